// Calls of functions that the application has given us.

/** An error of a listener is reported as uncaught; it must not end a stream or hide a result from others. */
export function guarded(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Listeners of one kind of notification. */
export class Listeners<T extends unknown[]> {
  private readonly set = new Set<(...args: T) => void>();

  add(listener: (...args: T) => void): () => void {
    // The same function may subscribe twice; each subscription is ended by itself.
    const own = (...args: T): void => listener(...args);
    this.set.add(own);
    return () => {
      this.set.delete(own);
    };
  }

  notify(...args: T): void {
    for (const listener of [...this.set]) if (this.set.has(listener)) guarded(() => listener(...args));
  }

  get size(): number {
    return this.set.size;
  }
}
