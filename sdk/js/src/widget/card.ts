// One comment, and its replies if it is a root.
import type { Laud } from "../client.js";
import { LaudError } from "../errors.js";
import { present, type Card } from "./calls.js";
import { composer } from "./composer.js";
import { HEART, button, h, icon } from "./dom.js";
import { markdown, safeAddress } from "./markdown.js";
import { votesOf, type Profile, type Votes } from "./site.js";
import { sentenceOf, type Language, type Translate } from "./text.js";

const REPLIES_LIMIT = 20;

/** What a comment needs of the widget that shows it. */
export interface Thread {
  laud: Laud;
  t: Translate;
  language: Language;
  user: string | undefined;
  owner: string | null;
  /** False: nobody may write here at present. */
  writable: boolean;
  /** Who the user is, as far as it is known; the listener is called when it becomes known. */
  profile(user: string, listener: (profile: Profile) => void): Profile | undefined;
  askLogin(): void;
  report(error: unknown): LaudError;
  /** All comments that are shown, by their ids. */
  shown: Map<string, CommentView>;
}

export class CommentView {
  readonly element: HTMLLIElement;
  private readonly article = h("article", { part: "comment-body" });
  private readonly below = h("div");
  private readonly list = h("ol", { class: "replies", part: "replies", role: "list", hidden: true });
  private readonly moreButton: HTMLButtonElement;
  private readonly replies = new Map<string, CommentView>();
  private more: number;
  private cursor: string | undefined;
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly thread: Thread,
    private card: Card,
    /** Undefined: it is a root. */
    private readonly parent: CommentView | undefined = undefined,
  ) {
    this.more = card.more ?? 0;
    this.moreButton = button("", () => void this.showMore());
    this.element = h("li", { class: "comment", part: "comment" }, this.article, this.below);
    if (parent === undefined) this.element.append(this.list, this.moreButton);
    thread.shown.set(card.comment, this);
    this.draw();
    for (const reply of present(card.replies ?? [])) this.addReply(reply);
    this.drawMore();
  }

  get id(): string {
    return this.card.comment;
  }

  get isRoot(): boolean {
    return this.parent === undefined;
  }

  /** The root of the thread that this comment belongs to. */
  get threadRoot(): CommentView {
    return this.parent ?? this;
  }

  /** Shows a newer state. A card that everybody sees does not say what the reader's own reactions are. */
  update(card: Card, mine: string[] = this.card.mine): void {
    this.card = { ...card, mine };
    this.draw();
  }

  remove(): void {
    this.unsubscribe?.();
    for (const reply of [...this.replies.values()]) reply.remove();
    this.thread.shown.delete(this.id);
    this.parent?.replies.delete(this.id);
    this.element.remove();
    this.parent?.drawMore();
  }

  /** A reply, in the order of their floors. */
  addReply(card: Card): CommentView {
    const shown = this.replies.get(card.comment);
    if (shown !== undefined) {
      shown.update(card);
      return shown;
    }
    const view = new CommentView(this.thread, card, this);
    const next = [...this.replies.values()].find((other) => other.card.floor > card.floor);
    this.replies.set(view.id, view);
    this.list.insertBefore(view.element, next?.element ?? null);
    this.drawMore();
    return view;
  }

  /** A reply by somebody else: it is shown if all before it are, and otherwise counted. */
  noteReply(card: Card): void {
    if (this.more === 0 || this.replies.has(card.comment)) this.addReply(card);
    else this.more++;
    this.drawMore();
  }

  focus(): void {
    this.element.tabIndex = -1;
    this.element.focus();
    this.element.scrollIntoView({ block: "nearest" });
  }

  private async showMore(): Promise<void> {
    const { laud, user, report, t } = this.thread;
    this.moreButton.disabled = true;
    try {
      const page = await laud.comments({
        item: this.id,
        by: "old",
        for: user,
        limit: REPLIES_LIMIT,
        cursor: this.cursor,
      });
      for (const reply of present(page.comments)) this.addReply(reply);
      this.cursor = page.cursor ?? undefined;
      const total = this.card.counts["comment"] ?? 0;
      this.more = page.cursor === null ? 0 : Math.max(1, total - this.replies.size);
      this.drawMore();
    } catch (error) {
      this.moreButton.textContent = `${sentenceOf(report(error), t)} ${t("again")}`;
    } finally {
      this.moreButton.disabled = false;
    }
  }

  private drawMore(): void {
    const { t } = this.thread;
    this.list.hidden = this.replies.size === 0;
    this.moreButton.hidden = this.more === 0;
    this.moreButton.textContent = this.more === 1 ? t("more_reply") : t("more_replies", this.more);
  }

  private draw(): void {
    const { card } = this;
    this.unsubscribe?.();
    this.unsubscribe = undefined;
    this.article.replaceChildren(
      this.avatar(),
      h("div", { class: "body" }, this.about(), this.content(), card.text === null ? null : this.actions()),
    );
  }

  private avatar(): HTMLElement {
    const box = h("span", { class: "avatar", part: "avatar", "aria-hidden": "true" });
    const show = ({ avatar }: Profile): void => {
      const address = avatar === undefined ? undefined : safeAddress(new URL(avatar, document.baseURI).href);
      if (address !== undefined) box.replaceWith(h("img", { class: "avatar", part: "avatar", src: address, alt: "" }));
    };
    const known = this.card.user === null ? undefined : this.thread.profile(this.card.user, show);
    if (known !== undefined) queueMicrotask(() => show(known));
    return box;
  }

  /** The name of a user, as soon as it is known. */
  private name(user: string | null): HTMLElement {
    const { t } = this.thread;
    const box = h("span", { class: "name", part: "name" });
    const show = ({ name, url }: Profile): void => {
      const address = url === undefined ? undefined : safeAddress(new URL(url, document.baseURI).href);
      box.replaceChildren(address === undefined ? name : h("a", { href: address }, name));
    };
    if (user === null) show({ name: t("nobody") });
    else show(this.thread.profile(user, show) ?? { name: t("user", user) });
    return box;
  }

  private about(): HTMLElement {
    const { card } = this;
    const { t, language, owner, user } = this.thread;
    const at = new Date(card.time * 1000);
    const shown = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(at);
    const mark = (text: string): HTMLElement => h("span", { class: "mark", part: "mark" }, text);
    const answers = card.reply_to !== null && card.reply_to.comment !== this.parent?.id;
    const pieces: Array<Node | string | false> = [
      this.name(card.user),
      card.user !== null && card.user === owner && mark(t("owner")),
      card.user !== null && card.user === user && mark(t("you")),
      answers && h("span", {}, t("answers", "")),
      answers && this.name(card.reply_to?.user ?? null),
      h("a", { href: `#${this.id.replace(":", "-")}` }, h("time", { datetime: at.toISOString() }, shown)),
      this.isRoot && `#${card.floor}`,
      card.edited !== null && t("edited"),
      card.pinned && mark(t("pinned")),
      card.owner_liked && mark(t("owner_liked")),
    ];
    const box = h("div", { class: "about", part: "about" });
    for (const piece of pieces) if (piece !== false) box.append(piece, " ");
    return box;
  }

  private content(): HTMLElement {
    const { card } = this;
    const { t } = this.thread;
    const note = (text: string): HTMLElement => h("p", { class: "note", part: "note" }, text);
    if (card.text === null) return note(t(card.state === "deleted" ? "deleted" : "hidden"));
    const text = h("div", { class: "text", part: "text" });
    text.append(markdown(card.text));
    if (card.state === "pending") text.append(note(t("pending")));
    else if (card.state === "hidden") text.append(note(t("hidden")));
    return text;
  }

  private actions(): HTMLElement {
    const { t, user, writable } = this.thread;
    const own = user !== undefined && this.card.user === user;
    const status = h("span", { class: "problem", role: "status" });
    return h(
      "div",
      { class: "actions", part: "actions" },
      this.likeButton(status),
      writable && button(t("reply"), () => this.reply()),
      own && button(t("edit"), () => this.edit()),
      own && this.deleteButton(status),
      !own && this.reportButton(status),
      status,
    );
  }

  private votes(): Votes | undefined {
    const { laud, user } = this.thread;
    return user === undefined ? undefined : votesOf(laud, user);
  }

  private likeButton(status: HTMLElement): HTMLElement {
    const { t, language } = this.thread;
    const count = h("span", { class: "count", part: "count" });
    const press = h("button", { type: "button", class: "like", part: "button like" }, icon(HEART), count);
    const show = (set: boolean, value: number): void => {
      press.setAttribute("aria-pressed", String(set));
      press.setAttribute("aria-label", `${t(set ? "liked" : "like")} ${value}`);
      count.textContent = value === 0 ? "" : new Intl.NumberFormat(language).format(value);
    };
    show(this.card.mine.includes("like"), this.card.counts["like"] ?? 0);
    const votes = this.votes();
    if (votes === undefined) {
      press.addEventListener("click", () => this.thread.askLogin());
      return press;
    }
    votes.reactions.seed("like", this.id, this.card.mine.includes("like"), this.card.counts["like"] ?? 0);
    this.unsubscribe = votes.subscribe("like", this.id, ({ set, count: value, error }) => {
      show(set ?? false, value ?? 0);
      status.textContent = error === undefined ? "" : sentenceOf(error, t);
    });
    press.addEventListener("click", () => {
      const { set } = votes.reactions.view("like", this.id);
      votes.reactions.set("like", this.id, !set).catch((error) => this.thread.report(error));
    });
    return press;
  }

  private reportButton(status: HTMLElement): HTMLElement {
    const { t } = this.thread;
    const press = button(t(this.card.mine.includes("report") ? "reported" : "report"), () => {
      const votes = this.votes();
      if (votes === undefined) {
        this.thread.askLogin();
        return;
      }
      press.disabled = true;
      votes.reactions.set("report", this.id, true).then(
        () => (press.textContent = t("reported")),
        (error) => {
          press.disabled = false;
          status.textContent = sentenceOf(this.thread.report(error), t);
        },
      );
    });
    press.disabled = this.card.mine.includes("report");
    return press;
  }

  private deleteButton(status: HTMLElement): HTMLElement {
    const { laud, t, user = "" } = this.thread;
    let asked = false;
    const press = button(t("delete"), async () => {
      if (!asked) {
        asked = true;
        press.textContent = t("delete_sure");
        return;
      }
      press.disabled = true;
      try {
        await laud.uncomment({ user, comment: this.id });
        this.showDeleted();
      } catch (error) {
        press.disabled = false;
        status.textContent = sentenceOf(this.thread.report(error), t);
      }
    });
    press.addEventListener("blur", () => {
      asked = false;
      press.textContent = t("delete");
    });
    return press;
  }

  /** A root stays as a placeholder while there are replies to it. */
  private showDeleted(): void {
    if (this.isRoot && (this.replies.size > 0 || this.more > 0))
      this.update({ ...this.card, state: "deleted", text: null, user: null, edited: null });
    else this.remove();
  }

  private reply(): void {
    const { laud, t, user } = this.thread;
    if (user === undefined) {
      this.thread.askLogin();
      return;
    }
    const label = t("reply_to", this.article.querySelector(".name")?.textContent ?? "");
    this.compose(label, t("post"), "", async (text) => {
      const posted = await laud.comment({ user, item: this.id, text });
      const view = await this.threadRoot.showPosted(posted.comment);
      view?.focus();
    });
  }

  /** Shows a reply that the user has just posted, wherever it is in the thread. */
  private async showPosted(comment: string): Promise<CommentView | undefined> {
    const { laud, user } = this.thread;
    const [card] = (await laud.cards({ comments: [comment], for: user })).cards;
    return card ? this.addReply(card) : undefined;
  }

  private edit(): void {
    const { laud, t, user = "" } = this.thread;
    this.compose(t("edit"), t("save"), this.card.text ?? "", async (text) => {
      await laud.edit({ user, comment: this.id, text });
      const [card] = (await laud.cards({ comments: [this.id], for: user })).cards;
      if (card) this.update(card, card.mine);
    });
  }

  /** One form at a time below a comment. */
  private compose(label: string, submit: string, text: string, send: (text: string) => Promise<void>): void {
    const close = (): void => {
      this.below.replaceChildren();
      this.article.querySelector<HTMLElement>(".actions button")?.focus();
    };
    const form = composer({
      t: this.thread.t,
      label,
      submit,
      text,
      cancel: close,
      send: async (written) => {
        await send(written).catch((error) => {
          throw this.thread.report(error);
        });
        this.below.replaceChildren();
      },
    });
    this.below.replaceChildren(form);
    form.querySelector("textarea")?.focus();
  }
}
