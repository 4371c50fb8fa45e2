// Live counts: many subscribers, few streams. A stream of the server shows up to 50 items; subscribers of
// the same item share one. A lost stream is opened again with the id of its last event, so the server sends
// counters only if they have changed since.
import type { Clock } from "./clock.js";
import { LaudError } from "./errors.js";
import { limits, type Counts } from "./generated.js";
import { guarded } from "./listeners.js";
import type { StreamEvent } from "./sse.js";
import { EventStream, defaultStream, watchVisibility, type StreamOptions } from "./stream.js";
import type { Transport } from "./transport.js";

export interface LiveOptions extends StreamOptions {
  /** The most streams at a time. Over HTTP/1.1 a browser opens six connections to a server, in all tabs. */
  streams: number;
  /** The most items of a stream. */
  items: number;
}

export const defaultLive: LiveOptions = {
  ...defaultStream,
  streams: 2,
  items: limits.liveItems,
};

/** Gets all counters of the item. A counter that is not in it is 0. */
export type LiveListener = (item: string, counts: Counts) => void;

export interface LiveSubscription {
  close(): void;
}

interface Subscriber {
  items: Set<string>;
  listener: LiveListener;
  onError: ((error: LaudError) => void) | undefined;
}

/** One stream of counts. */
class Stream {
  counts = new Map<string, Counts>();
  private readonly stream: EventStream;

  constructor(
    readonly items: string[],
    transport: Transport,
    clock: Clock,
    options: LiveOptions,
    private readonly onCounts: (item: string, counts: Counts) => void,
    onRefused: (stream: Stream, error: LaudError) => void,
  ) {
    this.stream = new EventStream(transport, clock, options, {
      path: "/v1/live",
      query: { items: items.join(",") },
      onEvent: (event) => this.take(event),
      onRefused: (error) => onRefused(this, error),
    });
  }

  start(): void {
    this.stream.start();
  }

  pause(): void {
    this.stream.pause();
  }

  close(): void {
    this.stream.close();
  }

  private take({ event, data }: StreamEvent): void {
    if (event !== "counts") return;
    const { items } = JSON.parse(data) as { items: Record<string, Counts> };
    for (const [item, all] of Object.entries(items)) {
      const counts = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== 0));
      this.counts.set(item, counts);
      this.onCounts(item, counts);
    }
  }
}

export class LiveCounts {
  private readonly subscribers = new Set<Subscriber>();
  private streams: Stream[] = [];
  private planned: (() => void) | undefined;
  private hidden = false;
  private unwatch: (() => void) | undefined;

  constructor(
    private readonly transport: Transport,
    private readonly clock: Clock,
    private readonly options: LiveOptions,
  ) {}

  subscribe(items: string[], listener: LiveListener, onError?: (error: LaudError) => void): LiveSubscription {
    for (const item of items) {
      // One bad item would end the stream of all others.
      if (!limits.item.test(item))
        throw new LaudError("BAD_ARGUMENT", `an item must be type:id, got '${item}'`);
    }
    const most = this.options.streams * this.options.items;
    if (new Set([...this.wanted(), ...items]).size > most) {
      throw new LaudError("TOO_MANY_ITEMS", `at most ${most} items can be watched at a time`);
    }
    const subscriber: Subscriber = { items: new Set(items), listener, onError };
    this.subscribers.add(subscriber);
    this.watchVisibility();
    this.plan();
    for (const item of subscriber.items) {
      const counts = this.streams.find((stream) => stream.counts.has(item))?.counts.get(item);
      if (counts !== undefined) {
        queueMicrotask(() => {
          if (this.subscribers.has(subscriber)) guarded(() => listener(item, counts));
        });
      }
    }
    return {
      close: () => {
        this.subscribers.delete(subscriber);
        this.plan();
      },
    };
  }

  close(): void {
    this.subscribers.clear();
    this.planned?.();
    this.planned = undefined;
    this.arrange();
  }

  private wanted(): Set<string> {
    const items = new Set<string>();
    for (const subscriber of this.subscribers) for (const item of subscriber.items) items.add(item);
    return items;
  }

  /** All that is subscribed and closed in one tick changes the streams once. */
  private plan(): void {
    this.planned ??= this.clock.after(0, () => {
      this.planned = undefined;
      this.arrange();
    });
  }

  /**
   * Streams that show what is wanted stay as they are. A stream with few wanted items is closed and its
   * items are put with the new ones into as few streams as possible.
   */
  private arrange(): void {
    const wanted = this.wanted();
    const kept: Stream[] = [];
    const free = new Set(wanted);
    for (const stream of this.streams) {
      const used = stream.items.filter((item) => wanted.has(item));
      const enough = used.length > 0 && used.length * 2 >= stream.items.length;
      if (enough && (stream.items.length === this.options.items || free.size === used.length)) {
        kept.push(stream);
        used.forEach((item) => free.delete(item));
      }
    }
    this.streams = this.replace(kept, [...free]);
    if (this.streams.length === 0) {
      this.unwatch?.();
      this.unwatch = undefined;
      this.hidden = false;
    }
  }

  private replace(kept: Stream[], items: string[]): Stream[] {
    const room = this.options.streams - kept.length;
    if (items.length > room * this.options.items) {
      // The kept streams have too many items that nobody wants any more.
      items = [...this.wanted()];
      kept = [];
    }
    const old = this.streams.filter((stream) => !kept.includes(stream));
    old.forEach((stream) => stream.close());
    const added: Stream[] = [];
    for (let at = 0; at < items.length; at += this.options.items) {
      const stream = new Stream(
        items.slice(at, at + this.options.items),
        this.transport,
        this.clock,
        this.options,
        (item, counts) => this.publish(item, counts),
        (refused, error) => this.refuse(refused, error),
      );
      for (const item of stream.items) {
        const counts = old.find((closed) => closed.counts.has(item))?.counts.get(item);
        if (counts !== undefined) stream.counts.set(item, counts);
      }
      added.push(stream);
      if (!this.hidden) stream.start();
    }
    return [...kept, ...added];
  }

  private publish(item: string, counts: Counts): void {
    for (const subscriber of [...this.subscribers])
      if (subscriber.items.has(item)) guarded(() => subscriber.listener(item, counts));
  }

  private refuse(stream: Stream, error: LaudError): void {
    this.streams = this.streams.filter((other) => other !== stream);
    for (const subscriber of [...this.subscribers]) {
      if (!stream.items.some((item) => subscriber.items.has(item))) continue;
      this.subscribers.delete(subscriber);
      guarded(() => subscriber.onError?.(error));
    }
    this.plan();
  }

  private watchVisibility(): void {
    if (!this.options.pauseWhenHidden || this.unwatch !== undefined) return;
    this.unwatch = watchVisibility((hidden) => {
      this.hidden = hidden;
      for (const stream of this.streams) {
        if (hidden) stream.pause();
        else stream.start();
      }
    });
  }
}
