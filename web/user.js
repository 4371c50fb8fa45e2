// One user: what the user reacted to, the user's comments and inbox, and a ban.
import { get, names, url } from "./api.js";
import { banOf, inboxOf, withoutComments, writtenBy } from "./comments.js";
import { card, field, fill, h, select } from "./dom.js";
import { moment } from "./format.js";
import { pagedTable } from "./lists.js";
import { t } from "./text.js";

const LIMIT = 20;

/** @param {string[]} parts */
export const title = ([user = ""]) => t("user_title", user);

/** @param {import("./main.js").Context} context */
export async function show(context) {
  const { main, parts, signal, report, comments } = context;
  const [user = ""] = parts;
  const known = await names(signal);
  if (signal.aborted) return;
  const kinds = known.kinds.length > 0 ? known.kinds : ["like"];
  const types = known.types.length > 0 ? known.types : ["video"];
  const place = h("div");
  const list = () => {
    const items = pagedTable(
      t("list_items", kind.value, type.value),
      [t("item"), t("time")],
      async (cursor) => {
        const query = { type: type.value, limit: LIMIT, cursor };
        const page = await get(url`v1/users/${user}/reactions/${kind.value}`, query, signal);
        return { entries: /** @type {{ item: string, time: number }[]} */ (page.items), cursor: page.cursor };
      },
      ({ item, time }) => [h("a", { href: `#/items/${encodeURIComponent(item)}` }, item), moment(time)],
      report,
    );
    fill(place, items.element);
    return items.next();
  };
  const kind = select(kinds.map((name) => [name, name]), kinds[0] ?? "", list);
  const type = select(types.map((name) => [name, name]), types[0] ?? "", list);
  main.append(
    card(t("reacted_to"), h("form", { class: "row" }, field(t("kind"), kind), field(t("type"), type)), place),
  );
  await list();
  const about = (await comments)
    ? await Promise.all([writtenBy(user, context), inboxOf(user, context), banOf(user)])
    : [withoutComments()];
  if (!signal.aborted) main.append(...about);
}
