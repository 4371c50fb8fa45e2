// Live comments: the new, changed and removed comments of an item while they happen, as everybody sees them. All
// subscribers of an item share one stream. After a lost connection the server sends what was missed; if that
// is more than it remembers, there is a `reset`, and the list has to be read again.
import type { Clock } from "./clock.js";
import { LaudError } from "./errors.js";
import { limits, type Card } from "./generated.js";
import { guarded } from "./listeners.js";
import type { LiveSubscription } from "./live.js";
import { EventStream, watchVisibility, type StreamOptions } from "./stream.js";
import type { Transport } from "./transport.js";

/** A comment as the server shows it to everybody: without its replies, and without reactions of a reader. */
export type LiveCard = NonNullable<Card>;

export type CommentEvent =
  /** The stream has begun. What is read after this event and changed by later ones misses nothing. */
  | { type: "begin" }
  /** `root` is the comment whose thread a reply belongs to; null: the comment is a root itself. */
  | { type: "new"; card: LiveCard; root: string | null }
  | { type: "changed"; card: LiveCard; root: string | null }
  | { type: "removed"; comment: string }
  /** Events were missed: read the list again. */
  | { type: "reset" };

export type CommentListener = (event: CommentEvent) => void;

interface Subscriber {
  listener: CommentListener;
  onError: ((error: LaudError) => void) | undefined;
}

interface Watched {
  stream: EventStream;
  begun: boolean;
  subscribers: Set<Subscriber>;
  unwatch: () => void;
}

export class LiveComments {
  private readonly watched = new Map<string, Watched>();

  constructor(
    private readonly transport: Transport,
    private readonly clock: Clock,
    private readonly options: StreamOptions,
  ) {}

  subscribe(item: string, listener: CommentListener, onError?: (error: LaudError) => void): LiveSubscription {
    if (!limits.item.test(item)) throw new LaudError("BAD_ARGUMENT", `an item must be type:id, got '${item}'`);
    const subscriber: Subscriber = { listener, onError };
    const watched = this.watched.get(item) ?? this.open(item);
    watched.subscribers.add(subscriber);
    if (watched.begun) {
      queueMicrotask(() => {
        if (watched.subscribers.has(subscriber)) guarded(() => listener({ type: "begin" }));
      });
    }
    return {
      close: () => {
        watched.subscribers.delete(subscriber);
        if (watched.subscribers.size === 0 && this.watched.get(item) === watched) this.end(item);
      },
    };
  }

  close(): void {
    for (const item of [...this.watched.keys()]) this.end(item);
  }

  private open(item: string): Watched {
    const subscribers = new Set<Subscriber>();
    const stream = new EventStream(this.transport, this.clock, this.options, {
      path: `/v1/items/${item}/comments/live`,
      query: {},
      onEvent: ({ event, data }) => {
        const found = eventOf(event, data);
        if (found === undefined) return;
        if (found.type === "begin") watched.begun = true;
        for (const { listener } of [...subscribers]) guarded(() => listener(found));
      },
      onRefused: (error) => {
        this.end(item);
        for (const { onError } of [...subscribers]) guarded(() => onError?.(error));
      },
    });
    const watched: Watched = { stream, subscribers, begun: false, unwatch: () => undefined };
    this.watched.set(item, watched);
    stream.start();
    if (this.options.pauseWhenHidden) {
      watched.unwatch = watchVisibility((hidden) => (hidden ? stream.pause() : stream.start()));
    }
    return watched;
  }

  private end(item: string): void {
    const watched = this.watched.get(item);
    this.watched.delete(item);
    watched?.unwatch();
    watched?.stream.close();
  }
}

/** Events that a later server may have are skipped. */
function eventOf(type: string, data: string): CommentEvent | undefined {
  switch (type) {
    case "new":
    case "changed":
      return { type, ...(JSON.parse(data) as { card: LiveCard; root: string | null }) };
    case "removed":
      return { type, comment: (JSON.parse(data) as { comment: string }).comment };
    case "begin":
    case "reset":
      return { type };
    default:
      return undefined;
  }
}
