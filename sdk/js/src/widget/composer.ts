// Where a comment is written or edited.
import { LaudError } from "../errors.js";
import { button, h } from "./dom.js";
import { sentenceOf, type Translate } from "./text.js";

const TEXT_MOST = 10_000; // bytes, as the server allows

export interface ComposerOptions {
  t: Translate;
  label: string;
  submit: string;
  text?: string;
  /** Rejects with a LaudError if it was not accepted; then the text stays. */
  send(text: string): Promise<void>;
  /** Undefined: it cannot be cancelled. */
  cancel?: () => void;
}

export function composer({ t, label, submit, text = "", send, cancel }: ComposerOptions): HTMLFormElement {
  const area = h("textarea", { part: "textarea", "aria-label": label, placeholder: label, rows: 3, required: true });
  area.value = text;
  const problem = h("span", { class: "problem", part: "problem", role: "alert" });
  const post = h("button", { class: "main", part: "button main" }, submit);

  const check = (): boolean => {
    const bytes = new TextEncoder().encode(area.value).length;
    problem.textContent = bytes > TEXT_MOST ? t("too_long", bytes, TEXT_MOST) : "";
    return bytes <= TEXT_MOST && area.value.trim() !== "";
  };

  const submitted = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (post.disabled || !check()) return;
    post.disabled = true;
    try {
      await send(area.value);
      area.value = "";
    } catch (error) {
      if (!(error instanceof LaudError)) throw error;
      problem.textContent = sentenceOf(error, t);
    } finally {
      post.disabled = false;
    }
  };

  area.addEventListener("input", check);
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void submitted(event);
    else if (event.key === "Escape" && cancel !== undefined) cancel();
  });
  return h(
    "form",
    { part: "composer", submit: (event) => void submitted(event) },
    area,
    h(
      "div",
      { class: "row" },
      h("span", { class: "hint", part: "hint" }, t("write_hint")),
      cancel !== undefined && button(t("cancel"), cancel),
      post,
    ),
    problem,
  );
}
