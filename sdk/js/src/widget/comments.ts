// <laud-comments item="video:42" user="7" server="/laud">: the comments of an item, with two levels.
import { LaudError } from "../errors.js";
import type { CommentEvent } from "../live_comments.js";
import { present, type Card, type Order, type Page } from "./calls.js";
import { CommentView, type Thread } from "./card.js";
import { composer } from "./composer.js";
import { button, h } from "./dom.js";
import { LaudElement } from "./element.js";
import type { Profile, ProfileSource } from "./site.js";
import { sentenceOf } from "./text.js";

const ORDERS: Order[] = ["top", "new", "old", "best", "hot", "controversial"];
const LIMIT = 20;
const BEGIN_MS = 1000;

export class LaudComments extends LaudElement {
  private source: ProfileSource | undefined;
  private readonly known = new Map<string, Profile>();
  private readonly asked = new Map<string, Array<(profile: Profile) => void>>();
  private readonly stops: Array<() => void> = [];
  private thread: Thread | undefined;
  private by: Order = "top";
  private cursor: string | undefined;
  private unseen = 0;
  /** Grows with every beginning, so that a late answer to an earlier one is not shown. */
  private turn = 0;

  private readonly heading = h("h2", { part: "heading" });
  private readonly orderBox = h("span");
  private readonly write = h("div");
  private readonly newButton = button("", () => void this.load(), { class: "wide", hidden: true });
  private readonly allButton = button("", () => void this.load(), { class: "wide", hidden: true });
  private readonly list = h("ol", { role: "list", part: "list" });
  private readonly moreButton = button("", () => void this.loadMore(), { class: "wide", hidden: true });
  private readonly status = h("p", { part: "status", role: "status" });

  constructor() {
    super("comments");
  }

  /** Says who users are: names, links and pictures. Without it, a user is shown by the id. */
  get profiles(): ProfileSource | undefined {
    return this.source;
  }

  set profiles(source: ProfileSource | undefined) {
    this.source = source;
    this.known.clear();
    if (this.isConnected) this.plan();
  }

  protected begin(): void {
    const t = this.texts;
    const orders = this.orders();
    if (!orders.includes(this.by)) this.by = orders[0] ?? "top";
    const choice = h(
      "select",
      { part: "order", "aria-label": t("order"), change: () => this.reorder(choice.value as Order) },
      ...orders.map((by) => h("option", { value: by, selected: by === this.by }, t(`by_${by}`))),
    );
    this.orderBox.replaceChildren(choice);
    this.newButton.hidden = this.moreButton.hidden = this.allButton.hidden = true;
    this.moreButton.textContent = t("more");
    this.allButton.textContent = t("show_all");
    this.heading.textContent = "";
    this.root.replaceChildren(
      h("header", { part: "header" }, this.heading, this.orderBox),
      this.write,
      this.newButton,
      this.allButton,
      this.list,
      this.moreButton,
      this.status,
    );
    // A link to a comment: #comment-123 in the address of the page.
    const linked = /^#comment-(\d+)$/.exec(location.hash)?.[1];
    const { turn } = this;
    void this.watch().then(() => {
      if (turn === this.turn) void this.load(linked === undefined ? undefined : `comment:${linked}`);
    });
  }

  protected end(): void {
    this.turn++;
    for (const stop of this.stops.splice(0)) stop();
    this.clear();
  }

  private clear(): void {
    for (const view of [...(this.thread?.shown.values() ?? [])]) if (view.isRoot) view.remove();
    this.list.replaceChildren();
    this.unseen = 0;
    this.newButton.hidden = true;
  }

  private orders(): Order[] {
    const given = ORDERS.filter((by) => this.getAttribute("orders")?.split(/[\s,]+/).includes(by));
    return given.length > 0 ? given : ["top", "new", "old"];
  }

  private reorder(by: Order): void {
    this.by = by;
    void this.load();
  }

  /** The first page; or the page that begins with a comment. */
  private async load(at?: string): Promise<void> {
    const turn = ++this.turn;
    const t = this.texts;
    this.status.textContent = t("loading");
    let page: Page;
    try {
      page = await this.read(at === undefined ? {} : { at });
    } catch (error) {
      if (turn !== this.turn) return;
      // A link to a comment that is not there any more shows the others.
      if (at !== undefined && error instanceof LaudError && [400, 404, 422].includes(error.status)) await this.load();
      else this.fail(error, () => void this.load(at));
      return;
    }
    if (turn !== this.turn) return;
    this.clear();
    this.begun(page);
    this.show(page, page.subject.pinned);
    this.allButton.hidden = at === undefined;
    if (at !== undefined) this.thread?.shown.get(at)?.focus();
  }

  private read(where: { at?: string; cursor?: string | undefined }): Promise<Page> {
    return this.laud.comments({ item: this.item, by: this.by, for: this.user, limit: LIMIT, ...where });
  }

  private begun({ subject }: Page): void {
    const writable = subject.mode === "open" || subject.mode === "held";
    this.thread = {
      laud: this.laud,
      t: this.texts,
      language: this.language,
      user: this.user,
      owner: subject.owner,
      writable,
      profile: (user, listener) => this.profile(user, listener),
      askLogin: () => this.askLogin(),
      report: (error) => this.report(error),
      shown: new Map(),
    };
    this.showCount(subject.comments);
    this.showComposer(writable);
  }

  /** Pinned comments are shown first, and not a second time where they stand in the order. */
  private show(page: Page, pinned: Page["comments"]): void {
    for (const card of present([...pinned, ...page.comments])) this.addRoot(card);
    this.cursor = page.cursor ?? undefined;
    this.moreButton.hidden = this.cursor === undefined;
    this.status.textContent = this.list.children.length === 0 ? this.texts("none") : "";
  }

  private addRoot(card: Card, before: Node | null = null): CommentView | undefined {
    const { thread } = this;
    if (thread === undefined) return undefined;
    const shown = thread.shown.get(card.comment);
    if (shown !== undefined) {
      // In the list it has its first replies, among the pinned ones it has none.
      for (const reply of present(card.replies ?? [])) shown.addReply(reply);
      return shown;
    }
    const view = new CommentView(thread, card);
    this.list.insertBefore(view.element, before);
    return view;
  }

  private async loadMore(): Promise<void> {
    const { turn } = this;
    this.moreButton.disabled = true;
    try {
      const page = await this.read({ cursor: this.cursor });
      if (turn === this.turn) this.show(page, []);
    } catch (error) {
      if (turn === this.turn) this.fail(error, () => void this.loadMore());
    } finally {
      this.moreButton.disabled = false;
    }
  }

  private fail(error: unknown, again: () => void): void {
    const t = this.texts;
    const known = this.report(error);
    this.status.replaceChildren(h("span", { class: "problem" }, sentenceOf(known, t)), " ");
    if (known.code === "SUBJECT_CLOSED") this.write.replaceChildren();
    else this.status.append(button(t("again"), again));
  }

  private showCount(count: number): void {
    const t = this.texts;
    const shown = new Intl.NumberFormat(this.language).format(count);
    this.heading.textContent = count === 1 ? t("comment_one") : t("comments", shown);
  }

  private showComposer(writable: boolean): void {
    const t = this.texts;
    const { user } = this;
    if (!writable) {
      this.write.replaceChildren(h("p", { class: "note", part: "note" }, t("readonly")));
    } else if (user === undefined) {
      this.write.replaceChildren(button(t("login"), () => this.askLogin(), { class: "wide" }));
    } else if (this.write.querySelector("form") === null || this.write.dataset["user"] !== `${user} ${this.language}`) {
      this.write.dataset["user"] = `${user} ${this.language}`;
      this.write.replaceChildren(
        composer({ t, label: t("write"), submit: t("post"), send: (text) => this.post(user, text) }),
      );
    }
  }

  private async post(user: string, text: string): Promise<void> {
    try {
      const { laud } = this;
      const { comment } = await laud.comment({ user, item: this.item, text });
      const [card] = (await laud.cards({ comments: [comment], for: user })).cards;
      if (!card) return;
      this.status.textContent = "";
      this.addRoot(card, this.list.firstChild)?.focus();
    } catch (error) {
      throw this.report(error);
    }
  }

  // Live

  /**
   * Fulfilled when the stream has begun: what is read after that misses nothing. If it does not begin soon, the
   * comments are shown all the same.
   */
  private watch(): Promise<void> {
    const begun = new Promise<void>((resolve) => {
      const cancel = this.laud.clock.after(BEGIN_MS, resolve);
      const comments = this.laud.liveComments(
        this.item,
        (event) => (event.type === "begin" ? resolve() : this.take(event)),
        (error) => {
          resolve();
          this.report(error);
        },
      );
      this.stops.push(cancel, () => comments.close());
    });
    this.watchCount();
    return begun;
  }

  private watchCount(): void {
    const { item } = this;
    try {
      const counts = this.laud.live([item], (_, { comment = 0 }) => this.showCount(comment));
      this.stops.push(() => counts.close());
    } catch {
      // Too many items are watched on this page: the number stays as it was loaded.
    }
  }

  private take(event: CommentEvent): void {
    const shown = this.thread?.shown;
    if (shown === undefined) return;
    if (event.type === "begin") return;
    if (event.type === "reset") {
      this.noteNew(1);
    } else if (event.type === "removed") {
      shown.get(event.comment)?.remove();
    } else {
      const { card, root } = event;
      const view = shown.get(card.comment);
      if (view !== undefined) view.update(card);
      else if (event.type === "new" && root === null) this.noteNew(1);
      else if (event.type === "new") shown.get(root ?? "")?.noteReply(card);
    }
  }

  /** New comments do not move what somebody reads: a button shows them. */
  private noteNew(count: number): void {
    const t = this.texts;
    this.unseen += count;
    this.newButton.hidden = false;
    this.newButton.textContent = this.unseen === 1 ? t("show_new_one") : t("show_new", this.unseen);
  }

  // Profiles

  private profile(user: string, listener: (profile: Profile) => void): Profile | undefined {
    const found = this.known.get(user);
    if (found !== undefined || this.source === undefined) return found;
    const waiting = this.asked.get(user);
    if (waiting !== undefined) {
      waiting.push(listener);
      return undefined;
    }
    if (this.asked.size === 0) queueMicrotask(() => void this.askProfiles());
    this.asked.set(user, [listener]);
    return undefined;
  }

  /** All users whose comments were drawn in the same tick are asked for at once. */
  private async askProfiles(): Promise<void> {
    const asked = new Map(this.asked);
    this.asked.clear();
    try {
      const found = (await this.source?.([...asked.keys()])) ?? {};
      for (const [user, listeners] of asked) {
        const profile = found[user];
        if (profile === undefined) continue;
        this.known.set(user, profile);
        for (const listener of listeners) listener(profile);
      }
    } catch (error) {
      this.report(error);
    }
  }
}
