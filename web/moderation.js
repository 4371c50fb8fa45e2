// The moderation queue: comments that wait for approval, that are hidden, or that were reported.
import { names } from "./api.js";
import { cardList, withoutComments } from "./comments.js";
import { queue } from "./comments_api.js";
import { card, field, h, select } from "./dom.js";
import { t } from "./text.js";

const STATES = ["pending", "hidden", "reported"];

export const title = () => t("moderation");

/** @param {import("./main.js").Context} context */
export async function show({ main, parts, signal, report, comments }) {
  if (!(await comments)) {
    main.append(withoutComments());
    return;
  }
  const { types } = await names(signal);
  if (signal.aborted) return;
  const [type = types[0] ?? "video", state = "pending"] = parts;
  const go = () => (location.hash = `#/moderation/${encodeURIComponent(typeInput.value)}/${stateSelect.value}`);
  const typeInput = h("input", { value: type, list: "types", autocomplete: "off", onchange: go });
  const stateSelect = select(STATES.map((one) => [one, t(`state_${one}`)]), state, go);
  main.append(
    h(
      "form",
      {
        class: "row",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          go();
        },
      },
      field(t("type"), typeInput),
      field(t("state"), stateSelect),
      h("datalist", { id: "types" }, types.map((value) => h("option", { value }))),
    ),
    card(
      t("queue_of", t(STATES.includes(state) ? `state_${state}` : "state_pending"), type),
      await cardList((cursor) => queue(type, state, cursor, signal), report),
    ),
  );
}
