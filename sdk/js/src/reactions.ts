// The reactions of one user as a page shows them. A change is shown at once; the answer of the server
// settles it, and a failure rolls it back. For each kind and item one request is under way at a time, and
// of the calls that arrive meanwhile only the last one is sent.
import type { Laud } from "./client.js";
import { LaudError } from "./errors.js";
import type { Change } from "./generated.js";
import { Listeners } from "./listeners.js";
import type { LiveSubscription } from "./live.js";
import type { OwnReactions } from "./own.js";

export interface ReactionsOptions {
  /** The local copy: it says what is set at first, and gets what the server acknowledges. */
  own?: OwnReactions | undefined;
  /** Groups of kinds of which only one can be set, as the server's --exclusive: [["like", "dislike"]]. */
  exclusive?: string[][] | undefined;
  /** The most items of which the state is kept. States that nobody watches are dropped first. */
  most?: number | undefined;
}

export interface ReactionView {
  /** Undefined if it is not known yet. */
  set: boolean | undefined;
  /** The item's counter of this kind, this user's change included. */
  count: number | undefined;
  /** True while the server has not answered. */
  pending: boolean;
  /** Why the last change was rolled back. */
  error: LaudError | undefined;
}

interface Waiter {
  resolve(view: ReactionView): void;
  reject(error: LaudError): void;
}

interface State {
  kind: string;
  item: string;
  confirmed: boolean | undefined;
  count: number | undefined;
  wanted: boolean;
  pending: boolean;
  /** The number of the last call, by which calls of an exclusive group are compared. */
  order: number;
  /** A live count that arrived while a request was under way. */
  heldCount: number | undefined;
  error: LaudError | undefined;
  waiters: Waiter[];
  listeners: Listeners<[ReactionView]>;
}

const keyOf = (kind: string, item: string): string => `${kind} ${item}`;

export class Reactions {
  private readonly states = new Map<string, State>();
  private readonly lanes = new Map<string, Promise<void>>();
  private readonly subscriptions: Array<() => void> = [];
  private calls = 0;

  constructor(
    private readonly laud: Laud,
    readonly user: string,
    private readonly options: ReactionsOptions,
  ) {
    const { own } = options;
    if (own === undefined) return;
    this.subscriptions.push(
      own.subscribe((changes) => {
        for (const { kind, item, set } of changes) this.learn(kind, item, set);
      }),
    );
  }

  view(kind: string, item: string): ReactionView {
    const state = this.states.get(keyOf(kind, item));
    return state
      ? this.viewOf(state)
      : { set: this.options.own?.has(kind, item), count: undefined, pending: false, error: undefined };
  }

  like(item: string): Promise<ReactionView> {
    return this.set("like", item, true);
  }

  unlike(item: string): Promise<ReactionView> {
    return this.set("like", item, false);
  }

  /** Shows the change at once. The promise is settled when the last call for this kind and item is. */
  set(kind: string, item: string, on: boolean): Promise<ReactionView> {
    const state = this.stateOf(kind, item);
    state.wanted = on;
    state.order = ++this.calls;
    state.error = undefined;
    const settled = new Promise<ReactionView>((resolve, reject) => state.waiters.push({ resolve, reject }));
    if (!state.pending) {
      state.pending = true;
      void this.run(state);
    }
    this.notifyGroup(state);
    return settled;
  }

  /** Calls the listener now and whenever the view changes. */
  subscribe(kind: string, item: string, listener: (view: ReactionView) => void): () => void {
    const state = this.stateOf(kind, item);
    const stop = state.listeners.add(listener);
    listener(this.viewOf(state));
    return stop;
  }

  /** Reads the reactions and counts of these items from the server, up to 200 in a request. */
  async load(items: string[], kinds: string[] = ["like"]): Promise<void> {
    const calls: Array<Promise<void>> = [];
    for (let at = 0; at < items.length; at += 200) calls.push(this.loadPage(items.slice(at, at + 200), kinds));
    await Promise.all(calls);
  }

  /** What an answer of the server has said, for example a page of comments. A pending change stays. */
  seed(kind: string, item: string, set: boolean, count: number): void {
    const state = this.stateOf(kind, item);
    if (state.pending) return;
    state.confirmed = set;
    state.count = count;
    state.listeners.notify(this.viewOf(state));
  }

  /** Keeps the counts of these items up to date by a live stream. */
  watch(items: string[], kinds: string[] = ["like"], onError?: (error: LaudError) => void): LiveSubscription {
    const subscription = this.laud.live(
      items,
      (item, counts) => {
        for (const kind of kinds) this.learnCount(this.stateOf(kind, item), counts[kind] ?? 0);
      },
      onError,
    );
    this.subscriptions.push(() => subscription.close());
    return subscription;
  }

  /** Ends the live streams. Requests that are under way are not ended. */
  close(): void {
    for (const stop of this.subscriptions.splice(0)) stop();
  }

  private stateOf(kind: string, item: string): State {
    const key = keyOf(kind, item);
    let state = this.states.get(key);
    if (state === undefined) {
      this.makeRoom();
      state = {
        kind,
        item,
        confirmed: this.options.own?.has(kind, item),
        count: undefined,
        wanted: false,
        pending: false,
        order: 0,
        heldCount: undefined,
        error: undefined,
        waiters: [],
        listeners: new Listeners(),
      };
      this.states.set(key, state);
    }
    return state;
  }

  private makeRoom(): void {
    if (this.states.size < (this.options.most ?? 10_000)) return;
    for (const [key, state] of this.states) {
      if (state.pending || state.listeners.size > 0) continue;
      this.states.delete(key);
      return;
    }
    throw new LaudError("TOO_MANY_ITEMS", "too many items are watched at a time");
  }

  private others(state: State): State[] {
    const kinds = this.options.exclusive?.find((group) => group.includes(state.kind)) ?? [];
    return kinds
      .filter((kind) => kind !== state.kind)
      .map((kind) => this.states.get(keyOf(kind, state.item)))
      .filter((other): other is State => other !== undefined);
  }

  private viewOf(state: State): ReactionView {
    const shown = this.shown(state);
    let { count } = state;
    if (count !== undefined && shown !== state.confirmed)
      count = Math.max(0, count + (shown === true ? 1 : state.confirmed === true ? -1 : 0));
    return { set: shown, count, pending: state.pending, error: state.error };
  }

  /** A later call for another kind of the group clears this one. */
  private shown(state: State): boolean | undefined {
    const cleared = this.others(state).some(
      (other) => other.pending && other.wanted && other.order > state.order,
    );
    if (cleared) return false;
    return state.pending ? state.wanted : state.confirmed;
  }

  private notifyGroup(state: State): void {
    for (const each of [state, ...this.others(state)]) each.listeners.notify(this.viewOf(each));
  }

  private async run(state: State): Promise<void> {
    for (;;) {
      const { wanted } = state;
      let failed: LaudError | undefined;
      try {
        this.acknowledged(state, wanted, await this.inLane(state, () => this.send(state, wanted)));
      } catch (error) {
        failed = error instanceof LaudError ? error : new LaudError("NETWORK", String(error), { cause: error });
      }
      if (state.wanted === wanted) {
        this.settle(state, failed);
        return;
      }
    }
  }

  private send(state: State, wanted: boolean): Promise<Change> {
    const args = { user: this.user, kind: state.kind, item: state.item };
    return wanted ? this.laud.react(args) : this.laud.unreact(args);
  }

  /** Requests for the kinds of an exclusive group are sent one after another: the last one has to win. */
  private async inLane(state: State, send: () => Promise<Change>): Promise<Change> {
    const group = this.options.exclusive?.find((kinds) => kinds.includes(state.kind));
    if (group === undefined) return send();
    const lane = keyOf(group.join(","), state.item);
    const before = this.lanes.get(lane);
    const sent = before === undefined ? send() : before.then(send);
    const end = sent.then(
      () => undefined,
      () => undefined,
    );
    this.lanes.set(lane, end);
    try {
      return await sent;
    } finally {
      if (this.lanes.get(lane) === end) this.lanes.delete(lane);
    }
  }

  private acknowledged(state: State, set: boolean, answer: Change): void {
    this.confirm(state, set, answer.changed);
    if (typeof answer.count === "number") state.count = answer.count;
    if (!set) return;
    for (const other of this.others(state)) {
      if (other.confirmed === true) this.confirm(other, false, true);
    }
  }

  private confirm(state: State, set: boolean, changed: boolean): void {
    state.confirmed = set;
    if (changed && state.count !== undefined) state.count = Math.max(0, state.count + (set ? 1 : -1));
    this.options.own?.acknowledge(state.kind, state.item, set).catch(() => undefined);
  }

  private settle(state: State, failed: LaudError | undefined): void {
    state.pending = false;
    state.error = failed;
    // A live count of the meantime may already be newer than the answer. If it is older, the stream sends
    // another one.
    if (state.heldCount !== undefined) state.count = state.heldCount;
    state.heldCount = undefined;
    this.notifyGroup(state);
    for (const { resolve, reject } of state.waiters.splice(0)) {
      if (failed === undefined) resolve(this.viewOf(state));
      else reject(failed);
    }
  }

  private learn(kind: string, item: string, set: boolean): void {
    const state = this.states.get(keyOf(kind, item));
    if (state === undefined || state.pending || state.confirmed === set) return;
    state.confirmed = set;
    state.listeners.notify(this.viewOf(state));
  }

  private learnCount(state: State, count: number): void {
    if (state.pending) {
      state.heldCount = count;
    } else if (state.count !== count) {
      state.count = count;
      state.listeners.notify(this.viewOf(state));
    }
  }

  private async loadPage(items: string[], kinds: string[]): Promise<void> {
    const began = this.calls;
    const page = await this.laud.feed({ user: this.user, items });
    for (const row of page.items) {
      for (const kind of kinds) {
        const state = this.stateOf(kind, row.item);
        // A call of the meantime is newer than this answer.
        if (state.pending || state.order > began) continue;
        state.confirmed = row.reactions?.includes(kind) ?? false;
        state.count = row.counts[kind] ?? 0;
        state.error = undefined;
        state.listeners.notify(this.viewOf(state));
      }
    }
  }
}
