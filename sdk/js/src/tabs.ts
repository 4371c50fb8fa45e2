// What the tabs of a browser have in common: messages between them, and one lock. Where there are no tabs
// (Node) or no such interfaces, the users of the same store in this process take their place.
import type { OwnStore, OwnWrite } from "./own_store.js";

export type TabMessage =
  { type: "write"; session: string; write: OwnWrite } | { type: "logout"; session: string };

/** Users of the same store object in this process, by name. */
const local = new WeakMap<OwnStore, Map<string, Set<Tabs>>>();
const chains = new WeakMap<OwnStore, Map<string, Promise<unknown>>>();

export class Tabs {
  onMessage: (message: TabMessage) => void = () => undefined;
  private readonly channel: BroadcastChannel | undefined;

  /** `store`: a store that the application has given; only its users in this process share it. */
  constructor(
    private readonly name: string,
    private readonly store: OwnStore | undefined,
  ) {
    if (store !== undefined) {
      this.peers(store).add(this);
    } else if (typeof BroadcastChannel !== "undefined" && typeof indexedDB !== "undefined") {
      this.channel = new BroadcastChannel(name);
      this.channel.onmessage = (event: MessageEvent) => this.onMessage(event.data as TabMessage);
    }
  }

  send(message: TabMessage): void {
    this.channel?.postMessage(message);
    if (this.store === undefined) return;
    for (const peer of [...this.peers(this.store)]) if (peer !== this) peer.onMessage(message);
  }

  /** Runs it while no other tab runs one of the same name. */
  async locked(run: () => Promise<void>, signal: AbortSignal): Promise<void> {
    if (this.store !== undefined) return this.lockedHere(this.store, run, signal);
    if (typeof navigator === "undefined" || !("locks" in navigator) || navigator.locks === undefined)
      return run();
    // The browser's own error would not say why it ended.
    await navigator.locks.request(this.name, { signal }, run).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error;
    });
  }

  close(): void {
    this.channel?.close();
    if (this.store !== undefined) this.peers(this.store).delete(this);
  }

  private async lockedHere(store: OwnStore, run: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const chain = chains.get(store) ?? new Map<string, Promise<unknown>>();
    chains.set(store, chain);
    const before = chain.get(this.name) ?? Promise.resolve();
    const mine = before
      .catch(() => undefined)
      .then(() => {
        if (signal.aborted) throw signal.reason;
        return run();
      });
    chain.set(this.name, mine);
    try {
      await mine;
    } finally {
      if (chain.get(this.name) === mine) chain.delete(this.name);
    }
  }

  private peers(store: OwnStore): Set<Tabs> {
    const names = local.get(store) ?? new Map<string, Set<Tabs>>();
    local.set(store, names);
    const peers = names.get(this.name) ?? new Set<Tabs>();
    names.set(this.name, peers);
    return peers;
  }
}
