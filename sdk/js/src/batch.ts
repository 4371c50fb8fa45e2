// Gathers the calls of one tick and sends them as one POST /v1/batch. A call that is alone gets its own
// route, whose answer can say more (the count after a change).
import type { Clock } from "./clock.js";
import { LaudError, errorInBatch } from "./errors.js";
import { limits } from "./generated.js";
import { fromBatch, wordsOf, type Arguments, type Operation } from "./operation.js";
import { Scope } from "./retry.js";

export interface BatchOptions {
  /** How long to gather; 0 is the current tick. */
  delayMs: number;
  /** The most operations of a request. The server takes 200. */
  operations: number;
  /** The most bytes of a request. The server takes 256 KiB by default (--http-body). */
  bytes: number;
  /** The most words of a request. The server takes 20,000 values in a body. */
  words: number;
}

export const defaultBatch: BatchOptions = {
  delayMs: 0,
  operations: limits.batchOperations,
  bytes: 128 * 1024,
  words: 10_000,
};

interface Waiting {
  operation: Operation;
  args: Arguments;
  words: string[];
  bytes: number;
  signal: AbortSignal;
  deadlineMs: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export interface Sender {
  /** Sends operations and gives their results. Retries are its own affair. */
  batch(operations: string[][], signal: AbortSignal, deadlineMs: number): Promise<unknown>;
  /** Sends one operation by its own route. */
  alone(operation: Operation, args: Arguments, signal: AbortSignal, deadlineMs: number): Promise<unknown>;
}

export class Batcher {
  private queue: Waiting[] = [];
  private timer: (() => void) | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly options: BatchOptions,
    private readonly sender: Sender,
  ) {}

  add(operation: Operation, args: Arguments, signal: AbortSignal, deadlineMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const words = wordsOf(operation, args);
      const bytes = words.reduce((sum, word) => sum + 3 * word.length + 3, 2);
      this.queue.push({ operation, args, words, bytes, signal, deadlineMs, resolve, reject });
      this.timer ??= this.clock.after(this.options.delayMs, () => this.flush());
    });
  }

  private flush(): void {
    this.timer = undefined;
    const queue = this.queue.splice(0).filter(({ signal }) => !signal.aborted);
    let request: Waiting[] = [];
    let bytes = 0;
    let words = 0;
    for (const call of queue) {
      const full =
        request.length >= this.options.operations ||
        bytes + call.bytes > this.options.bytes ||
        words + call.words.length > this.options.words;
      if (request.length > 0 && full) {
        void this.send(request);
        request = [];
        bytes = words = 0;
      }
      request.push(call);
      bytes += call.bytes;
      words += call.words.length;
    }
    if (request.length > 0) void this.send(request);
  }

  private async send(calls: Waiting[]): Promise<void> {
    const first = calls[0] as Waiting;
    if (calls.length === 1 && first.operation.method !== null) {
      this.sendAlone(first);
      return;
    }
    // The request ends when the last of its callers has given up.
    const scope = new Scope();
    let left = calls.length;
    for (const { signal } of calls) {
      signal.addEventListener(
        "abort",
        () => {
          if (--left === 0) scope.abort(signal.reason);
        },
        { once: true },
      );
    }
    try {
      const deadlineMs = Math.max(...calls.map((call) => call.deadlineMs));
      this.settle(
        calls,
        await this.sender.batch(
          calls.map(({ words }) => words),
          scope.signal,
          deadlineMs,
        ),
      );
    } catch (error) {
      for (const call of calls) call.reject(error);
    }
  }

  private settle(calls: Waiting[], answer: unknown): void {
    const results = resultsOf(
      calls.map(({ operation }) => operation),
      answer,
    );
    calls.forEach((call, i) => {
      try {
        call.resolve(results[i]?.());
      } catch (error) {
        const large = error instanceof LaudError && error.code === "ANSWER_TOO_LARGE" && calls.length > 1;
        if (large && call.operation.method !== null) this.sendAlone(call);
        else call.reject(error);
      }
    });
  }

  private sendAlone({ operation, args, signal, deadlineMs, resolve, reject }: Waiting): void {
    this.sender.alone(operation, args, signal, deadlineMs).then(resolve, reject);
  }
}

/** For each operation of a batch, a function that gives its result or throws its error. */
export function resultsOf(operations: Operation[], answer: unknown): Array<() => unknown> {
  const results = (answer as { results?: unknown } | null)?.results;
  if (!Array.isArray(results) || results.length !== operations.length) {
    throw new LaudError("BAD_ANSWER", "the answer does not have one result for each operation");
  }
  return operations.map((operation, i) => () => {
    const error = errorInBatch(results[i]);
    if (error !== undefined) throw error;
    return fromBatch(operation, results[i]);
  });
}
