// Tries again what failed for a reason that may pass: bounded exponential back-off with jitter, the
// server's Retry-After as the least wait, and one deadline over all attempts.
import { sleep, type Clock } from "./clock.js";
import { LaudError } from "./errors.js";

export interface RetryOptions {
  /** How many requests a call may make. */
  attempts: number;
  /** The wait before the second attempt; it doubles with each further one. */
  firstMs: number;
  /** The longest wait. A longer Retry-After counts all the same. */
  mostMs: number;
  /** How long one attempt may take. */
  attemptMs: number;
  /** How long a call may take with all its attempts. */
  deadlineMs: number;
}

export const defaultRetry: RetryOptions = {
  attempts: 5,
  firstMs: 100,
  mostMs: 5000,
  attemptMs: 5000,
  deadlineMs: 15000,
};

/** Half of the doubled wait is fixed and half of it is random, so that clients do not return together. */
export function backOff(clock: Clock, firstMs: number, mostMs: number, failures: number): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return full / 2 + (full / 2) * clock.random();
}

/** A signal that is aborted by any of the given ones or by `abort`. `close` lets go of all of them. */
export class Scope {
  private readonly controller = new AbortController();
  private readonly undo: Array<() => void> = [];
  readonly signal = this.controller.signal;

  follow(signal: AbortSignal | undefined, reason: (signal: AbortSignal) => unknown): this {
    if (signal === undefined) return this;
    const onAbort = (): void => this.abort(reason(signal));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    this.undo.push(() => signal.removeEventListener("abort", onAbort));
    return this;
  }

  limit(clock: Clock, ms: number, reason: () => unknown): this {
    if (Number.isFinite(ms)) this.undo.push(clock.after(ms, () => this.abort(reason())));
    return this;
  }

  abort(reason: unknown): void {
    if (!this.signal.aborted) this.controller.abort(reason);
  }

  close(): void {
    for (const undo of this.undo.splice(0)) undo();
  }
}

const timeout = (ms: number, cause: unknown): LaudError =>
  new LaudError("TIMEOUT", `there was no answer within ${ms} ms`, { cause });
export const aborted = (signal: AbortSignal): LaudError =>
  signal.reason instanceof LaudError
    ? signal.reason
    : new LaudError("ABORTED", "the call was aborted", { cause: signal.reason });

/** Rejects as soon as the signal is aborted, also if what runs does not notice the signal. */
function race<T>(running: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    running.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** One attempt, with its own limit of time: beyond it the attempt has failed like a lost connection. */
async function attemptOnce<T>(
  clock: Clock,
  options: RetryOptions,
  outer: AbortSignal,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const scope = new Scope()
    .follow(outer, (signal) => signal.reason)
    .limit(
      clock,
      options.attemptMs,
      () => new LaudError("NETWORK", `there was no answer within ${options.attemptMs} ms`),
    );
  try {
    return await race(attempt(scope.signal), scope.signal);
  } finally {
    scope.close();
  }
}

/**
 * Runs `attempt` until it succeeds, fails with an error that `again` does not accept, or there is no time
 * for another one. The error is then that of the last attempt.
 */
export async function retry<T>(
  clock: Clock,
  options: RetryOptions,
  again: (error: LaudError) => boolean,
  caller: AbortSignal | undefined,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = clock.now() + options.deadlineMs;
  let last: unknown;
  const scope = new Scope()
    .follow(caller, aborted)
    .limit(clock, options.deadlineMs, () => timeout(options.deadlineMs, last));
  try {
    for (let failures = 1; ; failures++) {
      try {
        if (scope.signal.aborted) throw scope.signal.reason;
        return await attemptOnce(clock, options, scope.signal, attempt);
      } catch (error) {
        if (!(error instanceof LaudError) || !again(error) || failures >= options.attempts) throw error;
        last = error;
        const asked = (error.retryAfter ?? 0) * 1000;
        const wait = Math.max(
          backOff(clock, options.firstMs, options.mostMs, failures),
          asked + asked * 0.1 * clock.random(),
        );
        if (clock.now() + wait >= end) throw error;
        await sleep(clock, wait, scope.signal);
      }
    }
  } finally {
    scope.close();
  }
}
