// Time and chance, so that a test can pass in its own.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back after so many milliseconds. The function that it returns cancels that. */
  after(ms: number, callback: () => void): () => void;
  /** A number from 0 up to 1. */
  random(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** Waits, or rejects with the reason of the signal as soon as it is aborted. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** 128 bits of chance in hexadecimal digits: an idempotency token. It has to be unique, not secret. */
export function makeToken(): string {
  const bytes = new Uint8Array(16);
  // Node 18 has no global crypto.
  if (typeof crypto === "undefined")
    bytes.forEach((_, i) => {
      bytes[i] = Math.random() * 256;
    });
  else crypto.getRandomValues(bytes);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
