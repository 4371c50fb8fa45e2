// <laud-like item="video:42" user="7" server="/laud">: a button with the number of likes.
import type { LiveSubscription } from "../live.js";
import type { ReactionView } from "../reactions.js";
import { HEART, h, icon } from "./dom.js";
import { LaudElement } from "./element.js";
import { votesOf } from "./site.js";
import { sentenceOf } from "./text.js";

export class LaudLike extends LaudElement {
  private readonly stops: Array<() => void> = [];

  constructor() {
    super("like");
  }

  protected begin(): void {
    const { item, user } = this;
    const t = this.texts;
    const kind = this.getAttribute("kind") ?? "like";
    const count = h("span", { class: "count", part: "count" });
    const problem = h("span", { class: "problem", part: "problem", role: "status" });
    const press = h("button", { type: "button", class: "like", part: "button", "aria-pressed": "false" }, icon(HEART), count);
    const show = ({ set, count: value, error }: ReactionView): void => {
      press.setAttribute("aria-pressed", String(set ?? false));
      press.setAttribute("aria-label", `${t(set ? "liked" : "like")} ${value ?? ""}`.trim());
      count.textContent = value === undefined ? "" : new Intl.NumberFormat(this.language).format(value);
      problem.textContent = error === undefined ? "" : sentenceOf(error, t);
    };
    this.root.replaceChildren(press, problem);
    show({ set: undefined, count: undefined, pending: false, error: undefined });
    if (user === undefined) {
      press.addEventListener("click", () => this.askLogin());
      this.watchCounts(item, kind, show);
      return;
    }
    const votes = votesOf(this.laud, user);
    this.stops.push(votes.subscribe(kind, item, show));
    press.addEventListener("click", () => {
      const { set } = votes.reactions.view(kind, item);
      votes.reactions.set(kind, item, !set).catch((error) => this.report(error));
    });
    votes.load(kind, item).then(
      () => this.keep(votes.watch(kind, item)),
      (error) => this.report(error),
    );
  }

  /** The count alone, for somebody who is not logged in. */
  private watchCounts(item: string, kind: string, show: (view: ReactionView) => void): void {
    const counted = (counts: Record<string, number>): void =>
      show({ set: false, count: counts[kind] ?? 0, pending: false, error: undefined });
    try {
      this.keep(this.laud.live([item], (_, counts) => counted(counts), (error) => this.report(error)));
    } catch {
      // Too many items are watched on this page: the count is read once.
      this.laud.counts({ item }).then(({ counts }) => counted(counts), (error) => this.report(error));
    }
  }

  private keep(subscription: LiveSubscription): void {
    if (this.isConnected) this.stops.push(() => subscription.close());
    else subscription.close();
  }

  protected end(): void {
    for (const stop of this.stops.splice(0)) stop();
  }
}
