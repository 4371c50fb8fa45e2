// Comments as people see them: cards, the lists of an item and of a user, the inbox, and what a moderator may
// do. Actions are shown to everybody who sees the card; the server decides whether the token may do them, and
// its refusal is shown.
import { ApiError } from "./api.js";
import * as api from "./comments_api.js";
import { card as section, facts, field, fill, h, say, select } from "./dom.js";
import { moment, number } from "./format.js";
import { pages } from "./lists.js";
import { t } from "./text.js";

/** @typedef {import("./main.js").Context} Context @typedef {import("./comments_api.js").Card} Card */

const ORDERS = ["top", "new", "old", "best", "hot", "controversial"];
const THREAD_ORDERS = ["old", "new"]; // of the replies to a comment
const MODES = ["open", "held", "readonly", "closed"];

/**
 * What is shown in place of something that the server does not show: the token's role is too low, the server
 * has no store, or the comments are closed. Any other error is thrown again. @param {unknown} error
 */
function instead(error) {
  if (!(error instanceof ApiError)) throw error;
  if (error.code === "NO_PERMISSION") return h("p", { class: "soft" }, t("needs_role"));
  if (error.code === "NO_STORE") return h("p", { class: "soft" }, t("comments_need_store"));
  if (error.status === 403 || error.status === 404) return h("p", { class: "soft" }, error.message);
  throw error;
}

/** The section of a page about comments, on a server that has none. */
export const withoutComments = () => section(t("comments"), h("p", { class: "soft" }, t("no_comments")));

/**
 * Runs an action of a moderator and says in the same line how it went. True: it was done.
 * @param {HTMLElement} line @param {string} label @param {() => Promise<unknown>} action
 */
async function act(line, label, action) {
  try {
    await action();
    fill(line, t("done", label));
    return true;
  } catch (error) {
    fill(line, error instanceof Error ? error.message : String(error));
    return false;
  }
}

/** @param {string} key @param {(event: Event) => void} pressed */
const button = (key, pressed) => h("button", { type: "button", onclick: pressed }, t(key));

/**
 * What a moderator may do with a comment. `changed` gets its new state.
 * @param {Card} one @param {(state: string) => void} changed
 */
function actions(one, changed) {
  const line = h("span", { role: "status" });
  /** @param {string} key @param {string} state */
  const moderate = (key, state) =>
    button(key, async () => {
      if (await act(line, t(key), () => api.moderate(one.comment, state))) changed(state);
    });
  let pinned = one.pinned === true;
  const pin = button(pinned ? "unpin" : "pin", async () => {
    const key = pinned ? "unpin" : "pin";
    if (!(await act(line, t(key), () => api.pin(one.comment, !pinned)))) return;
    pinned = !pinned;
    say(pin, t(pinned ? "unpin" : "pin"));
  });
  return h(
    "div",
    { class: "row actions", role: "group", "aria-label": t("actions_on", one.comment) },
    moderate("approve", "visible"),
    moderate("hide", "hidden"),
    !one.reply_to && pin,
    line,
  );
}

/** Who wrote it, when and where. @param {Card} one */
function origin(one) {
  return [
    one.user ? h("a", { href: `#/users/${encodeURIComponent(one.user)}` }, one.user) : t("nobody"),
    ` · ${t("floor", one.floor)} · ${moment(one.time)}`,
    one.edited ? ` · ${t("edited")}` : "",
    one.pinned ? ` · ${t("pinned")}` : "",
    one.reply_to ? ` · ${t("answers", one.reply_to.user ?? t("nobody"))}` : "",
    " · ",
    h("a", { href: `#/items/${encodeURIComponent(one.comment)}` }, one.comment),
    " ",
  ];
}

/** @param {Card} one @returns {HTMLElement} */
export function commentCard(one) {
  const badge = h("span");
  /** @param {string} state */
  const mark = (state) => {
    badge.className = `badge ${state === "visible" ? "good" : "bad"}`;
    say(badge, t(`state_${state}`));
  };
  mark(one.state);
  const counts = Object.entries(one.counts ?? {}).map(([name, value]) => `${name} ${number(value)}`);
  return h(
    "li",
    {},
    h(
      "article",
      { class: "comment" },
      h("p", { class: "soft" }, ...origin(one), badge),
      one.text ? h("p", { class: "text" }, one.text) : h("p", { class: "soft" }, t("no_text")),
      counts.length > 0 && h("p", { class: "soft" }, counts.join(" · ")),
      actions(one, mark),
    ),
    (one.replies?.length ?? 0) > 0 && h("ul", { class: "entries" }, one.replies?.map(commentCard)),
    Boolean(one.more) &&
      h("p", {}, h("a", { href: `#/items/${encodeURIComponent(one.comment)}` }, t("replies_more"))),
  );
}

/**
 * A list, page by page; or a sentence, if the server does not show it. @template Entry
 * @param {(cursor: string | undefined) => Promise<{ entries: Entry[], cursor: string | null }>} read
 * @param {(entry: Entry) => HTMLElement} write @param {(error: unknown) => void} report
 */
async function listOf(read, write, report) {
  const box = h("div");
  const list = pages(read, write, (error) => {
    try {
      fill(box, instead(error));
    } catch {
      report(error);
    }
  });
  fill(box, list.list, list.empty, list.more);
  await list.next();
  return box;
}

/**
 * A list of comments. @param {(cursor: string | undefined) => Promise<{ entries: Card[], cursor: string | null }>} read
 * @param {(error: unknown) => void} report
 */
export const cardList = (read, report) => listOf(read, commentCard, report);

/** The comments of an item, or the replies to a comment. @param {string} item @param {Context} context */
export async function commentsOf(item, { signal, report }) {
  const orders = item.startsWith("comment:") ? THREAD_ORDERS : ORDERS;
  const box = h("div");
  const show = async () => {
    const query = { by: order.value, all: all.checked ? "true" : undefined };
    fill(box, await cardList((cursor) => api.comments(item, { ...query, cursor }, signal), report));
  };
  const order = select(orders.map((by) => [by, t(`by_${by}`)]), orders[0] ?? "", show);
  const all = h("input", { type: "checkbox", onchange: show });
  await show();
  return section(
    t(item.startsWith("comment:") ? "replies" : "comments"),
    h("form", { class: "row" }, field(t("order"), order), h("label", { class: "check" }, all, t("show_all"))),
    box,
  );
}

/** A comment itself. @param {string} comment @param {Context} context */
export async function commentOf(comment, { signal }) {
  const found = await api.cards([comment], signal).catch((error) => error);
  if (found instanceof Error) return section(t("comment"), instead(found));
  const [one] = found;
  return section(
    t("comment"),
    one ? h("ul", { class: "entries" }, commentCard(one)) : h("p", { class: "soft" }, t("comment_not_shown")),
  );
}

/** What a user wrote. @param {string} user @param {Context} context */
export async function writtenBy(user, { signal, report }) {
  return section(t("written"), await cardList((cursor) => api.written(user, cursor, signal), report));
}

/** Replies to a user, and mentions. @param {string} user @param {Context} context */
export async function inboxOf(user, { signal, report }) {
  let unread = 0;
  const list = await listOf(
    async (cursor) => {
      const page = await api.inbox(user, cursor, signal);
      unread = page.unread;
      return page;
    },
    (notice) =>
      h(
        "li",
        {},
        `${t(notice.kind === "mention" ? "inbox_mention" : "inbox_reply", notice.by ?? t("nobody"))} · `,
        `${moment(notice.time)} · `,
        h("a", { href: `#/items/${encodeURIComponent(notice.comment)}` }, notice.comment),
      ),
    report,
  );
  return section(t("inbox", number(unread)), list);
}

/** The settings of an item's comments. @param {string} item @param {Context} context */
export async function subjectOf(item, { signal }) {
  const now = await api.subject(item, signal).catch((error) => error);
  if (now instanceof Error) return section(t("subject"), instead(now));
  const owner = h("input", { value: now.owner ?? "", autocomplete: "off" });
  const mode = select(MODES.map((one) => [one, t(`mode_${one}`)]), now.mode);
  const said = h("span", { role: "status" });
  /** @param {Event} event */
  const save = (event) => {
    event.preventDefault();
    const settings = { mode: mode.value, ...(owner.value !== "" && { owner: owner.value }) };
    act(said, t("save"), () => api.setSubject(item, settings));
  };
  return section(
    t("subject"),
    facts([
      [t("comments"), number(now.comments ?? 0)],
      [t("roots"), number(now.roots ?? 0)],
      [t("pins"), number(now.pinned?.length ?? 0)],
    ]),
    h(
      "form",
      { class: "row", onsubmit: save },
      field(t("mode"), mode),
      field(t("owner"), owner),
      h("button", { class: "main" }, t("save")),
      said,
    ),
  );
}

/** A ban from commenting. @param {string} user */
export function banOf(user) {
  const until = h("input", { type: "datetime-local" });
  const shadow = h("input", { type: "checkbox" });
  const said = h("span", { role: "status" });
  /** @param {Event} event */
  const save = (event) => {
    event.preventDefault();
    const how = {
      ...(until.value !== "" && { until: Math.floor(new Date(until.value).getTime() / 1000) }),
      ...(shadow.checked && { shadow: true }),
    };
    act(said, t("ban"), () => api.ban(user, how));
  };
  return section(
    t("ban_title"),
    h(
      "form",
      { class: "row", onsubmit: save },
      field(t("ban_until"), until),
      h("label", { class: "check" }, shadow, t("ban_shadow")),
      h("button", { class: "main" }, t("ban")),
      button("unban", () => act(said, t("unban"), () => api.unban(user))),
      said,
    ),
  );
}
