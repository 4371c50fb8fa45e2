// Leaderboards: the items of a type with the highest values of a counter, of all time or of a window.
import { get, names, url } from "./api.js";
import { card, field, fill, h, select, table } from "./dom.js";
import { number } from "./format.js";
import { t } from "./text.js";

const LIMIT = 50;
const WINDOWS = ["all", "hour", "day", "week"];

export const title = () => t("boards");

/** @param {import("./main.js").Context} context */
export async function show({ main, parts, signal }) {
  const known = await names(signal);
  const counters = [...known.kinds, ...known.counters];
  if (signal.aborted) return;
  const [type = known.types[0] ?? "video", counter = counters[0] ?? "like", window = "all"] = parts;
  /** A name that is not in the list can still be in the address. @param {string[]} list @param {string} chosen */
  const choices = (list, chosen) =>
    (list.includes(chosen) ? list : [chosen, ...list]).map((name) => /** @type {[string, string]} */ ([name, name]));
  const go = () => {
    const chosen = [types, counts, windows].map((one) => encodeURIComponent(one.value));
    location.hash = `#/boards/${chosen.join("/")}`;
  };
  const types = select(choices(known.types, type), type, go);
  const counts = select(choices(counters, counter), counter, go);
  const windows = select(WINDOWS.map((one) => [one, t(`window_${one}`)]), window, go);
  const place = h("div");
  const caption = t("board_of", type, counter, t(`window_${WINDOWS.includes(window) ? window : "all"}`));
  main.append(
    h("form", { class: "row" }, field(t("type"), types), field(t("counter"), counts), field(t("window"), windows)),
    card(caption, place),
  );
  const query = { limit: LIMIT, window: window === "all" ? undefined : window };
  const { items } = await get(url`v1/top/${type}/${counter}`, query, signal);
  fill(
    place,
    items.length === 0
      ? h("p", { class: "soft" }, t("none"))
      : table(
          caption,
          [t("rank"), t("item"), t("value")],
          items.map((/** @type {{ item: string, value: number }} */ { item, value }, /** @type {number} */ i) => [
            i + 1,
            h("a", { href: `#/items/${encodeURIComponent(item)}` }, item),
            number(value),
          ]),
        ),
  );
}
