// Lists that are read page by page, with a button for the next page.
import { h } from "./dom.js";
import { t } from "./text.js";

/**
 * @template Entry
 * @param {(cursor: string | undefined) => Promise<{ entries: Entry[], cursor: string | null }>} read
 * @param {(entry: Entry) => HTMLElement} write
 * @param {(error: unknown) => void} report
 * @param {"ul" | "tbody"} [name] what the entries are put into
 */
export function pages(read, write, report, name = "ul") {
  const list = h(name, { class: "entries" });
  const more = h("button", { type: "button", hidden: true, onclick: () => next() }, t("more"));
  const empty = h("p", { class: "soft", hidden: true }, t("none"));
  /** @type {string | undefined} */
  let cursor;

  async function next() {
    more.disabled = true;
    try {
      const page = await read(cursor);
      list.append(...page.entries.map(write));
      cursor = page.cursor ?? "";
      more.hidden = cursor === "";
      empty.hidden = list.children.length > 0;
    } catch (error) {
      report(error);
    } finally {
      more.disabled = false;
    }
  }

  return { list, more, empty, next };
}

/**
 * The same in a table. @template Entry
 * @param {string} caption @param {string[]} heads
 * @param {(cursor: string | undefined) => Promise<{ entries: Entry[], cursor: string | null }>} read
 * @param {(entry: Entry) => (Node | string)[]} cells
 * @param {(error: unknown) => void} report
 */
export function pagedTable(caption, heads, read, cells, report) {
  const paged = pages(
    read,
    (/** @type {Entry} */ entry) => h("tr", {}, cells(entry).map((cell) => h("td", {}, cell))),
    report,
    "tbody",
  );
  const element = h(
    "div",
    {},
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
      h(
        "table",
        {},
        h("caption", {}, caption),
        h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
        paged.list,
      ),
    ),
    paged.empty,
    paged.more,
  );
  return { element, next: paged.next };
}
