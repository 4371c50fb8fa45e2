// Where one enters the item or the user to look up.
import { card, field, h } from "./dom.js";
import { t } from "./text.js";

export const title = () => t("lookup");

/** @param {string} page @param {string} heading @param {string} label @param {string} example */
function form(page, heading, label, example) {
  const input = h("input", { required: true, placeholder: example, autocomplete: "off", spellcheck: "false" });
  return card(
    heading,
    h(
      "form",
      {
        class: "row",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          location.hash = `#/${page}/${encodeURIComponent(input.value.trim())}`;
        },
      },
      field(label, input),
      h("button", { class: "main" }, t("find")),
    ),
  );
}

export const itemForm = () => form("items", t("look_item"), t("item_label"), "video:42");
export const userForm = () => form("users", t("look_user"), t("user_label"), "1");

/** @param {import("./main.js").Context} context */
export async function show({ main }) {
  main.append(h("div", { class: "grid" }, itemForm(), userForm()));
}
