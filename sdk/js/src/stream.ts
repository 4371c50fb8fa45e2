// One live stream of the server: it is opened again whenever it is lost, with the id of its last event, until
// it is closed or the server refuses for good.
import type { Clock } from "./clock.js";
import { LaudError, isRetryable } from "./errors.js";
import { backOff } from "./retry.js";
import { EventParser, type StreamEvent } from "./sse.js";
import type { Transport } from "./transport.js";

export interface StreamOptions {
  /** A stream that is silent for so long is lost. The server sends a comment every 15 seconds. */
  silentMs: number;
  /** The wait before the second attempt to connect, if the server has named none. */
  firstMs: number;
  /** The longest wait between attempts. */
  mostMs: number;
  /** Closes the streams of a page that is hidden, and resumes them when it is shown. */
  pauseWhenHidden: boolean;
}

export const defaultStream: StreamOptions = {
  silentMs: 45_000,
  firstMs: 1000,
  mostMs: 30_000,
  pauseWhenHidden: true,
};

export interface StreamTarget {
  path: string;
  query: Record<string, string>;
  /** Gets every event that has data. */
  onEvent(event: StreamEvent): void;
  /** Trying again does not help: the stream has ended. */
  onRefused(error: LaudError): void;
}

export class EventStream {
  private readonly controller = new AbortController();
  private cancelWait: (() => void) | undefined;
  private cancelSilence: (() => void) | undefined;
  private attempt: AbortController | undefined;
  private last = "";
  private retryMs: number;
  private failures = 0;

  constructor(
    private readonly transport: Transport,
    private readonly clock: Clock,
    private readonly options: StreamOptions,
    private readonly target: StreamTarget,
  ) {
    this.retryMs = options.firstMs;
  }

  start(): void {
    this.cancelWait = undefined;
    void this.connect();
  }

  /** Ends the connection; `start` resumes it. */
  pause(): void {
    this.cancelWait?.();
    this.cancelWait = undefined;
    const attempt = this.attempt;
    this.attempt = undefined;
    attempt?.abort();
    this.cancelSilence?.();
  }

  close(): void {
    this.controller.abort();
    this.pause();
  }

  private async connect(): Promise<void> {
    const attempt = new AbortController();
    this.attempt = attempt;
    try {
      this.watch(attempt);
      await this.read(attempt);
      this.reconnect(attempt, undefined);
    } catch (error) {
      this.reconnect(
        attempt,
        error instanceof LaudError ? error : new LaudError("NETWORK", "the stream was lost", { cause: error }),
      );
    }
  }

  private async read(attempt: AbortController): Promise<void> {
    const query = new URLSearchParams(this.target.query);
    if (this.last !== "") query.set("last", this.last);
    const text = query.toString();
    const path = text === "" ? this.target.path : `${this.target.path}?${text}`;
    const response = await this.transport.open({ method: "GET", path }, attempt.signal);
    const reader = response.body?.getReader();
    if (reader === undefined) throw new LaudError("BAD_ANSWER", "the stream has no body");
    const parser = new EventParser();
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.attempt !== attempt) return;
      this.watch(attempt);
      for (const event of parser.push(decoder.decode(value, { stream: true }))) this.take(event);
    }
  }

  private take(event: StreamEvent): void {
    if (event.retryMs !== undefined) this.retryMs = Math.min(event.retryMs, this.options.mostMs);
    // The block that names `retry` is sent before the server has looked at anything.
    else this.failures = 0;
    if (event.data === "") return;
    this.last = event.id;
    this.target.onEvent(event);
  }

  private watch(attempt: AbortController): void {
    this.cancelSilence?.();
    this.cancelSilence = this.clock.after(this.options.silentMs, () =>
      attempt.abort(new LaudError("NETWORK", "the stream was silent")),
    );
  }

  private reconnect(attempt: AbortController, error: LaudError | undefined): void {
    if (this.attempt !== attempt || this.controller.signal.aborted) return;
    this.pause();
    if (error !== undefined && !isRetryable(error)) {
      this.target.onRefused(error);
      return;
    }
    this.failures++;
    const wait =
      this.failures === 1
        ? this.retryMs
        : backOff(this.clock, this.retryMs, this.options.mostMs, this.failures);
    this.cancelWait = this.clock.after(Math.max(wait, (error?.retryAfter ?? 0) * 1000), () => this.start());
  }
}

/**
 * Calls the function whenever the page is hidden or shown, and at once if it is hidden. Outside of a page it
 * does nothing. The returned function ends it.
 */
export function watchVisibility(changed: (hidden: boolean) => void): () => void {
  if (typeof document === "undefined") return () => undefined;
  let hidden = false;
  const onChange = (): void => {
    const now = document.visibilityState === "hidden";
    if (now === hidden) return;
    hidden = now;
    changed(hidden);
  };
  document.addEventListener("visibilitychange", onChange);
  onChange();
  return () => document.removeEventListener("visibilitychange", onChange);
}
