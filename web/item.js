// One item: its counters while they change, who reacted, and its comments.
import { get, names, poll, url } from "./api.js";
import { commentOf, commentsOf, subjectOf, withoutComments } from "./comments.js";
import { card, facts, field, fill, h, select } from "./dom.js";
import { moment, number } from "./format.js";
import { pagedTable } from "./lists.js";
import { t } from "./text.js";

const COUNTS_MS = 2000;
const LIMIT = 20;

/** @param {string[]} parts */
export const title = ([item = ""]) => t("item_title", item);

/**
 * Who reacted with one kind. @param {string} item @param {string[]} kinds
 * @param {import("./main.js").Context} context
 */
function reactors(item, kinds, { signal, report }) {
  const place = h("div");
  /** @param {string} kind */
  const list = (kind) => {
    const users = pagedTable(
      t("list_users", kind, item),
      [t("user"), t("time")],
      async (cursor) => {
        const page = await get(url`v1/items/${item}/reactions/${kind}`, { limit: LIMIT, cursor }, signal);
        return { entries: /** @type {{ user: string, time: number }[]} */ (page.users), cursor: page.cursor };
      },
      ({ user, time }) => [h("a", { href: `#/users/${encodeURIComponent(user)}` }, user), moment(time)],
      report,
    );
    fill(place, users.element);
    users.next();
  };
  const chosen = kinds[0] ?? "like";
  list(chosen);
  return card(
    t("who_reacted"),
    h("form", { class: "row" }, field(t("kind"), select(kinds.map((kind) => [kind, kind]), chosen, list))),
    place,
  );
}

/** What the page says about comments. @param {string} item @param {import("./main.js").Context} context */
async function sections(item, context) {
  if (!(await context.comments)) return [withoutComments()];
  const first = item.startsWith("comment:") ? commentOf(item, context) : subjectOf(item, context);
  return Promise.all([first, commentsOf(item, context)]);
}

/** @param {import("./main.js").Context} context */
export async function show(context) {
  const { main, parts, signal, report } = context;
  const [item = ""] = parts;
  const counters = h("div");
  main.append(card(t("counters"), counters));
  const { counts } = await get(url`v1/items/${item}/counts`, {}, signal);
  const { kinds } = await names(signal);
  if (signal.aborted) return;
  const list = kinds.length > 0 ? kinds : ["like"];
  // The kinds that the item has come first.
  list.sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0));
  main.append(reactors(item, list, context));
  const about = await sections(item, context);
  if (signal.aborted) return;
  main.append(...about);
  await poll(
    COUNTS_MS,
    signal,
    async () => {
      const now = Object.entries((await get(url`v1/items/${item}/counts`, {}, signal)).counts);
      fill(
        counters,
        now.length === 0
          ? h("p", { class: "soft" }, t("none"))
          : facts(now.map(([name, value]) => [name, number(Number(value))])),
      );
    },
    report,
  );
}
