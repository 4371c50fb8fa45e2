// The client: typed calls with retries and batches, and the doors to live counts, optimistic reactions and
// the local copy of a user's reactions.
import { Batcher, defaultBatch, resultsOf, type BatchOptions } from "./batch.js";
import { makeToken, systemClock, type Clock } from "./clock.js";
import { LaudError, isRetryable } from "./errors.js";
import { Calls } from "./generated.js";
import { LiveCounts, defaultLive, type LiveListener, type LiveOptions, type LiveSubscription } from "./live.js";
import { LiveComments, type CommentListener } from "./live_comments.js";
import { wordsOf, type Arguments, type CallOptions, type Operation } from "./operation.js";
import { OwnReactions, type OwnOptions } from "./own.js";
import { Reactions, type ReactionsOptions } from "./reactions.js";
import { defaultRetry, retry, type RetryOptions } from "./retry.js";
import { Transport, targetOf, type TransportOptions } from "./transport.js";

export interface LaudOptions extends TransportOptions {
  /** False: no call is sent a second time. */
  retry?: Partial<RetryOptions> | false | undefined;
  /** False: every call gets a request of its own. */
  batch?: Partial<BatchOptions> | false | undefined;
  /** False: no idempotency token is made, and an addition without one is not sent a second time. */
  tokens?: boolean | undefined;
  live?: Partial<LiveOptions> | undefined;
  clock?: Clock | undefined;
}

export class Laud extends Calls {
  /** The address of the server, without a slash at its end. */
  readonly url: string;
  readonly clock: Clock;
  private readonly transport: Transport;
  private readonly retryOptions: RetryOptions;
  private readonly batcher: Batcher | undefined;
  private readonly tokens: boolean;
  private readonly liveCounts: LiveCounts;
  private readonly commentStreams: LiveComments;
  /** Errors of whole requests, which were retried already. */
  private readonly exhausted = new WeakSet<object>();

  constructor(options: LaudOptions) {
    super();
    this.url = options.url.replace(/\/+$/, "");
    this.clock = options.clock ?? systemClock;
    this.transport = new Transport(options);
    this.retryOptions =
      options.retry === false ? { ...defaultRetry, attempts: 1 } : { ...defaultRetry, ...options.retry };
    this.tokens = options.tokens ?? true;
    this.liveCounts = new LiveCounts(this.transport, this.clock, { ...defaultLive, ...options.live });
    this.commentStreams = new LiveComments(this.transport, this.clock, { ...defaultLive, ...options.live });
    if (options.batch !== false) {
      this.batcher = new Batcher(
        this.clock,
        { ...defaultBatch, ...options.batch },
        {
          batch: (operations, signal, deadlineMs) =>
            this.exhaust(this.sendBatch(operations, { ...this.retryOptions, deadlineMs }, signal)),
          alone: (operation, args, signal, deadlineMs) =>
            this.exhaust(this.sendAlone(operation, args, { ...this.retryOptions, deadlineMs }, signal)),
        },
      );
    }
  }

  /** Calls the listener with the counters of these items, now and whenever they change. */
  live(items: string[], listener: LiveListener, onError?: (error: LaudError) => void): LiveSubscription {
    return this.liveCounts.subscribe(items, listener, onError);
  }

  /** Calls the listener with each new, changed and removed comment of this item, as everybody sees them. */
  liveComments(
    item: string,
    listener: CommentListener,
    onError?: (error: LaudError) => void,
  ): LiveSubscription {
    return this.commentStreams.subscribe(item, listener, onError);
  }

  /** The reactions of a user as a page shows them: changed at once, and rolled back if the server refuses. */
  reactionsOf(user: string, options: ReactionsOptions = {}): Reactions {
    return new Reactions(this, user, options);
  }

  /** A local copy of all reactions of a user, which answers without a request. */
  ownReactions(user: string, options: OwnOptions = {}): Promise<OwnReactions> {
    return OwnReactions.open(this, user, options);
  }

  /** Closes all live streams. */
  close(): void {
    this.liveCounts.close();
    this.commentStreams.close();
  }

  protected async call<T>(operation: Operation, given: object, options: CallOptions = {}): Promise<T> {
    const args: Arguments = { ...given };
    if (operation.repeat === "token" && args["token"] === undefined && this.tokens) args["token"] = makeToken();
    const repeatable =
      operation.repeat === "always" || (operation.repeat === "token" && args["token"] !== undefined);
    const settings = {
      ...this.retryOptions,
      ...(repeatable ? {} : { attempts: 1 }),
      deadlineMs: options.deadlineMs ?? this.retryOptions.deadlineMs,
    };
    const { batcher } = this;
    // A batch is sent again as a whole, so it takes only what may be repeated.
    if (batcher === undefined || options.batch === false || !repeatable || operation.words === null) {
      return (await this.sendAlone(operation, args, settings, options.signal)) as T;
    }
    const again = (error: LaudError): boolean => isRetryable(error) && !this.exhausted.has(error);
    return (await retry(this.clock, { ...settings, attemptMs: Infinity }, again, options.signal, (signal) =>
      batcher.add(operation, args, signal, settings.deadlineMs),
    )) as T;
  }

  private sendBatch(
    operations: string[][],
    settings: RetryOptions,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const target = { method: "POST", path: "/v1/batch", body: { operations } };
    return retry(this.clock, settings, isRetryable, signal, (inner) => this.transport.json(target, inner));
  }

  private sendAlone(
    operation: Operation,
    args: Arguments,
    settings: RetryOptions,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    if (operation.method === null) return this.sendOnlyOne(operation, args, settings, signal);
    return retry(this.clock, settings, isRetryable, signal, (inner) =>
      this.transport.json(targetOf(operation, args), inner),
    );
  }

  /** An operation without a route is a batch of its own. */
  private sendOnlyOne(
    operation: Operation,
    args: Arguments,
    settings: RetryOptions,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const target = { method: "POST", path: "/v1/batch", body: { operations: [wordsOf(operation, args)] } };
    return retry(this.clock, settings, isRetryable, signal, async (inner) =>
      resultsOf([operation], await this.transport.json(target, inner))[0]?.(),
    );
  }

  private async exhaust(running: Promise<unknown>): Promise<unknown> {
    try {
      return await running;
    } catch (error) {
      if (error instanceof LaudError) this.exhausted.add(error);
      throw error;
    }
  }
}
