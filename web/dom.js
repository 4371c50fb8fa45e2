// Builds elements. Every text becomes a text node, never markup, so nothing that a user wrote can become
// part of the page's structure.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * An element with attributes and children. An attribute that begins with "on" is an event listener; false,
 * null and undefined leave an attribute or a child out.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

/** @param {Element} parent @param {(Child | Child[])[]} children */
function add(parent, children) {
  for (const child of children.flat()) {
    if (child === false || child === null || child === undefined) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
}

/** Replaces everything in an element. @param {Element} parent @param {...(Child | Child[])} children */
export function fill(parent, ...children) {
  parent.replaceChildren();
  add(parent, children);
}

/**
 * Sets the text of an element only if it differs, so that nothing is laid out again without need.
 * @param {Element} element @param {string} text
 */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * A table in a box that can be scrolled, also with the keyboard.
 * @param {string} caption @param {string[]} heads @param {(Child | Child[])[][]} rows
 */
export function table(caption, heads, rows) {
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell))))),
    ),
  );
}

/** A list of names and values. @param {[string, Child][]} pairs */
export function facts(pairs) {
  return h("dl", {}, pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** A section with a heading. @param {string} title @param {...(Child | Child[])} children */
export function card(title, ...children) {
  return h("section", { class: "card" }, h("h2", {}, title), ...children);
}

/**
 * A field with its label.
 * @param {string} label @param {HTMLInputElement | HTMLSelectElement} input
 */
export function field(label, input) {
  return h("label", { class: "field" }, h("span", {}, label), input);
}

/**
 * A choice between texts. @param {[string, string][]} options value and label of each
 * @param {string} chosen @param {(value: string) => void} [changed]
 */
export function select(options, chosen, changed) {
  const element = h(
    "select",
    {},
    options.map(([value, label]) => h("option", { value, selected: value === chosen }, label)),
  );
  if (changed) element.addEventListener("change", () => changed(element.value));
  return element;
}
