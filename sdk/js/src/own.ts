// A local copy of one user's reactions, kept by CHANGES. It answers "did I like this?" without a request.
//
// The copy is in a store (IndexedDB or memory) and as a map in memory, from which answers come. Tabs send
// each other what they have written, and a lock sees to it that one of them at a time asks for changes.
import type { Laud } from "./client.js";
import { makeToken } from "./clock.js";
import { LaudError } from "./errors.js";
import type { Changes } from "./generated.js";
import { Listeners } from "./listeners.js";
import { IndexedDbStore } from "./own_indexeddb.js";
import {
  MemoryStore,
  entryKey,
  type OwnChange,
  type OwnEntry,
  type OwnRecord,
  type OwnStore,
  type OwnWrite,
} from "./own_store.js";
import { Tabs, type TabMessage } from "./tabs.js";

export interface OwnOptions {
  /** Where to keep the copy; IndexedDB in a browser, else memory. */
  store?: OwnStore | undefined;
  /** The most reactions of the copy. Beyond it the oldest are dropped, and asked for if they are needed. */
  most?: number | undefined;
  /** How often to ask for changes, in milliseconds; 0: only when `sync` is called. */
  everyMs?: number | undefined;
  /** How many changes a page has. */
  page?: number | undefined;
  /** Gets errors of rounds that nobody waits for. */
  onError?: ((error: unknown) => void) | undefined;
}

export type OwnListener = (changes: OwnChange[]) => void;

const isStartOver = (error: unknown): boolean => error instanceof LaudError && error.status === 410;
/** Not a cursor of this server and user: its data directory is another one. */
const isBadCursor = (error: unknown): boolean => error instanceof LaudError && error.code === "BAD_ARGUMENT";

async function defaultStore(laud: Laud): Promise<OwnStore> {
  if (typeof indexedDB === "undefined") return new MemoryStore();
  // Some browsers have no storage for private windows.
  return IndexedDbStore.open(`laud ${laud.url}`).catch(() => new MemoryStore());
}

export class OwnReactions {
  private readonly entries = new Map<string, OwnEntry>();
  private readonly listeners = new Listeners<[OwnChange[]]>();
  /** What this client has written since the request of the page that is under way. It is newer than the page. */
  private written = new Set<string>();
  /** What the copy had when a round began anew. */
  private stale: Map<string, OwnEntry> | undefined;
  private readonly most: number;
  private readonly page: number;
  private readonly everyMs: number;
  private readonly ending = new AbortController();
  private early: TabMessage[] | undefined = [];
  private running: Promise<void> | undefined;
  private cancelTimer: (() => void) | undefined;

  private constructor(
    private readonly laud: Laud,
    readonly user: string,
    private readonly store: OwnStore,
    private readonly tabs: Tabs,
    private record: OwnRecord,
    private readonly options: OwnOptions,
  ) {
    this.most = options.most ?? 50_000;
    this.page = options.page ?? 1000;
    this.everyMs = options.everyMs ?? 60_000;
    tabs.onMessage = (message) => this.hear(message);
  }

  static async open(laud: Laud, user: string, options: OwnOptions): Promise<OwnReactions> {
    const store = options.store ?? (await defaultStore(laud));
    const fresh: OwnRecord = { session: makeToken(), cursor: "", complete: false, dropped: false, synced: 0 };
    const tabs = new Tabs(`laud ${laud.url} ${user}`, options.store);
    const own = new OwnReactions(laud, user, store, tabs, fresh, options);
    await own.load(fresh);
    own.refresh();
    return own;
  }

  /** True or false, or undefined if the copy does not know: ask `reacted` then. */
  has(kind: string, item: string): boolean | undefined {
    if (this.entries.has(entryKey(kind, item))) return true;
    return this.record.complete && !this.record.dropped ? false : undefined;
  }

  /** Whether the user likes these items. Only what the copy does not know is asked for. */
  liked(items: string[]): Promise<boolean[]> {
    return this.reacted("like", items);
  }

  async reacted(kind: string, items: string[]): Promise<boolean[]> {
    const answers = items.map((item) => this.has(kind, item));
    const asked = items.filter((_, i) => answers[i] === undefined);
    const found = new Map<string, boolean>();
    await Promise.all(
      asked.map(async (item) =>
        found.set(item, (await this.laud.reacted({ user: this.user, kind, item })).set),
      ),
    );
    return items.map((item, i) => answers[i] ?? found.get(item) ?? false);
  }

  /** How many reactions the copy has. */
  get size(): number {
    return this.entries.size;
  }

  /** True once the copy has every reaction of the user. */
  get complete(): boolean {
    return this.record.complete && !this.record.dropped;
  }

  /** Is called with all that changes in the copy, whoever changed it. */
  subscribe(listener: OwnListener): () => void {
    return this.listeners.add(listener);
  }

  /** Takes over what the server has acknowledged to this client. */
  async acknowledge(kind: string, item: string, set: boolean): Promise<void> {
    if (this.ending.signal.aborted) return;
    this.written.add(entryKey(kind, item));
    await this.write({ changes: [{ kind, item, set, time: Math.floor(this.laud.clock.now() / 1000) }] });
  }

  /** Asks for what has changed. Calls during a round wait for that round. */
  sync(): Promise<void> {
    if (this.ending.signal.aborted) return Promise.reject(new LaudError("CLOSED", "this copy was closed"));
    this.running ??= this.tabs
      .locked(() => this.round(), this.ending.signal)
      .finally(() => {
        this.running = undefined;
      });
    return this.running;
  }

  /** Stops asking for changes. The data remains for the next time. */
  close(): void {
    this.end();
    if (this.options.store === undefined) this.store.close();
  }

  /** Removes the data of this user, in all tabs. */
  async logout(): Promise<void> {
    this.end(false);
    await this.running?.catch(() => undefined);
    await this.store.remove(this.user);
    this.forget();
    this.tabs.send({ type: "logout", session: this.record.session });
    this.tabs.close();
    if (this.options.store === undefined) this.store.close();
  }

  private end(tabs = true): void {
    this.cancelTimer?.();
    this.ending.abort(new LaudError("CLOSED", "this copy was closed"));
    if (tabs) this.tabs.close();
  }

  private forget(): void {
    const gone = [...this.entries.values()].map((entry) => ({ ...entry, set: false }));
    this.entries.clear();
    this.record = { ...this.record, cursor: "", complete: false, dropped: false };
    if (gone.length > 0) this.listeners.notify(gone);
  }

  private async load(fresh: OwnRecord): Promise<void> {
    const { record, entries } = await this.store.load(this.user, fresh);
    this.record = record;
    for (const entry of entries) this.entries.set(entryKey(entry.kind, entry.item), entry);
    // What other tabs have sent while the store was read may be newer than what was read.
    const early = this.early ?? [];
    this.early = undefined;
    for (const message of early) this.hear(message);
  }

  /** The round in the background, and the next one. */
  private refresh(): void {
    if (this.everyMs <= 0 || this.ending.signal.aborted) return;
    const age = this.laud.clock.now() - this.record.synced;
    const due = !this.record.complete || age >= this.everyMs || age < 0;
    const done = due
      ? this.sync().catch((error) => {
          if (!this.ending.signal.aborted) this.options.onError?.(error);
        })
      : Promise.resolve();
    void done.then(() => {
      if (this.ending.signal.aborted) return;
      // Tabs do not all wake up at the same time; the first one spares the others the round.
      this.cancelTimer = this.laud.clock.after(this.everyMs * (1 + this.laud.clock.random() / 4), () =>
        this.refresh(),
      );
    });
  }

  private async round(): Promise<void> {
    // Another tab may have gone on with the round while this one waited for the lock.
    const stored = await this.store.record(this.user);
    if (stored === undefined || stored.session !== this.record.session) return this.loggedOut();
    this.record = stored;
    for (let restarts = 0; ;) {
      this.written = new Set();
      let page: Changes;
      try {
        page = await this.ask();
      } catch (error) {
        if (!(isStartOver(error) || (isBadCursor(error) && this.record.cursor !== "")) || ++restarts > 2)
          throw error;
        if (
          !(await this.write({
            empty: true,
            changes: [],
            record: { cursor: "", complete: false, dropped: false },
          }))
        )
          return this.loggedOut();
        continue;
      }
      if (!(await this.takePage(page))) return this.loggedOut();
      if (!page.more) return;
    }
  }

  private ask(): Promise<Changes> {
    const { cursor } = this.record;
    return this.laud.changes(
      { user: this.user, limit: this.page, ...(cursor === "" ? {} : { since: cursor }) },
      { signal: this.ending.signal, batch: false },
    );
  }

  private async takePage(page: Changes): Promise<boolean> {
    const first = this.record.cursor === "";
    const changes = page.changes.filter(({ kind, item }) => !this.written.has(entryKey(kind, item)));
    const record: Partial<OwnRecord> = { cursor: page.cursor };
    if (!page.more) Object.assign(record, { complete: true, synced: this.laud.clock.now() });
    // Before the first page there may be what a client has set itself, which the docs ask to remove.
    const kept = first
      ? [...this.entries].filter(([key]) => this.written.has(key)).map(([, entry]) => ({ ...entry, set: true }))
      : [];
    return this.write({ empty: first, changes: [...kept, ...changes], record });
  }

  /** Writes to the store, then to the map, then sends it to the other tabs. False: the user is logged out. */
  private async write(write: OwnWrite): Promise<boolean> {
    const drop = this.overflow(write);
    const whole = drop.length === 0 ? write : { ...write, drop, record: { ...write.record, dropped: true } };
    try {
      if (!(await this.store.write(this.user, this.record.session, whole))) return false;
    } catch (error) {
      // The storage is full or gone. The answers of this tab stay right, and the next round repeats the rest.
      this.apply(whole);
      throw error;
    }
    this.apply(whole);
    this.tabs.send({ type: "write", session: this.record.session, write: whole });
    return true;
  }

  private apply(write: OwnWrite): void {
    if (write.empty === true) {
      // Whether these are still set is not certain before the round has ended; until then nobody is notified.
      this.stale ??= new Map(this.entries);
      this.entries.clear();
    }
    for (const { kind, item, time, set } of write.changes) {
      if (set) this.entries.set(entryKey(kind, item), { kind, item, time });
      else this.entries.delete(entryKey(kind, item));
    }
    for (const { kind, item } of write.drop ?? []) this.entries.delete(entryKey(kind, item));
    Object.assign(this.record, write.record);
    const changed = [...this.ended(), ...write.changes];
    if (changed.length > 0) this.listeners.notify(changed);
  }

  /** At the end of a round that began anew: what was in the copy before it, and is not set any more. */
  private ended(): OwnChange[] {
    if (!this.record.complete || this.stale === undefined) return [];
    const gone = this.record.dropped ? [] : [...this.stale].filter(([key]) => !this.entries.has(key));
    this.stale = undefined;
    return gone.map(([, entry]) => ({ ...entry, set: false }));
  }

  /** What has to go so that the copy stays within its limit: the oldest, a tenth more than necessary. */
  private overflow(write: OwnWrite): OwnEntry[] {
    const before = write.empty === true ? 0 : this.entries.size;
    if (before + write.changes.length <= this.most) return [];
    const after = new Map<string, OwnEntry>(write.empty === true ? [] : this.entries);
    for (const { kind, item, time, set } of write.changes) {
      if (set) after.set(entryKey(kind, item), { kind, item, time });
      else after.delete(entryKey(kind, item));
    }
    if (after.size <= this.most) return [];
    const oldest = [...after.values()].sort((a, b) => a.time - b.time);
    return oldest.slice(0, oldest.length - Math.floor(this.most * 0.9));
  }

  private hear(message: TabMessage): void {
    if (this.early !== undefined) this.early.push(message);
    else if (message.session !== this.record.session) return;
    else if (message.type === "logout") this.loggedOut();
    else {
      for (const { kind, item } of message.write.changes) this.written.add(entryKey(kind, item));
      this.apply(message.write);
    }
  }

  /** The user has logged out in another tab. */
  private loggedOut(): void {
    if (this.ending.signal.aborted) return;
    this.end();
    this.forget();
  }
}
