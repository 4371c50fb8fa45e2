// The frame of the console: which page the address names, the navigation, the language and the token. A page
// is a function that fills <main>; its signal is aborted when another page is shown.
import { ApiError, has, token, wanted } from "./api.js";
import * as boards from "./boards.js";
import { COMMENTS, QUEUE } from "./comments_api.js";
import { fill, h, say, select } from "./dom.js";
import * as item from "./item.js";
import * as lookup from "./lookup.js";
import * as moderation from "./moderation.js";
import * as overview from "./overview.js";
import * as server from "./server.js";
import { choose, language, t } from "./text.js";
import * as user from "./user.js";

/**
 * What a page gets.
 * @typedef {object} Context
 * @property {HTMLElement} main
 * @property {string[]} parts the segments of the address after the name of the page
 * @property {AbortSignal} signal
 * @property {Promise<boolean>} comments does this server have comments?
 * @property {(error: unknown) => void} report shows an error, or that all is well again (undefined)
 */

/** @type {Record<string, { title: (parts: string[]) => string, show: (context: Context) => Promise<void> }>} */
const pages = { "": overview, boards, lookup, items: item, users: user, moderation, server };

const links = ["", "boards", "lookup", "moderation", "server"];

const part = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const main = part("main");
let leave = new AbortController();
/** A server of an earlier version has no comments, and its pages say so. */
const comments = Promise.all([has("get", COMMENTS), has("get", QUEUE)]).then(
  (all) => all.every((there) => there),
  (error) => {
    report(error);
    return false;
  },
);
let tokens = token.get() !== "";

/** @param {unknown} error */
function report(error) {
  const text =
    error === undefined
      ? ""
      : error instanceof ApiError && error.code === "NO_ANSWER"
        ? t("no_answer")
        : error instanceof ApiError && error.status === 401
          ? t("token_title")
          : String(error instanceof Error ? error.message : error);
  say(part("problem"), text);
  if (error !== undefined && !(error instanceof ApiError)) throw error; // a mistake of ours
}

function parts() {
  return location.hash
    .replace(/^#\/?/, "")
    .split("/")
    .map((segment) => {
      try {
        return decodeURIComponent(segment);
      } catch {
        return segment; // somebody has typed a % into the address
      }
    });
}

/** @param {string} name */
function frame(name) {
  document.documentElement.lang = language();
  say(part("skip"), t("skip"));
  part("nav").setAttribute("aria-label", t("navigation"));
  fill(
    part("nav"),
    h(
      "ul",
      {},
      links.map((link) => {
        const current = link === name || (link === "lookup" && (name === "items" || name === "users"));
        return h("li", {}, h("a", { href: `#/${link}`, "aria-current": current && "page" }, t(link || "overview")));
      }),
    ),
  );
  const choice = select([["en", "English"], ["zh", "中文"]], language(), (chosen) => {
    choose(chosen);
    show();
    part("tools").querySelector("select")?.focus(); // it was made anew
  });
  choice.setAttribute("aria-label", t("language"));
  fill(part("tools"), choice, tokens && h("button", { type: "button", onclick: askToken }, t("token")));
}

/** Shows the page that the address names. @param {{ moved?: boolean }} [how] */
async function show({ moved = false } = {}) {
  const [name = "", ...rest] = parts();
  const page = pages[name];
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  /** What fails because another page is shown is no problem. @param {unknown} error */
  const reportHere = (error) => {
    if (!signal.aborted) report(error);
  };
  frame(name);
  report(undefined);
  main.replaceChildren();
  if (page === undefined) {
    fill(main, h("h1", {}, t("nothing_here")));
    return;
  }
  document.title = `${page.title(rest)} – Laud`;
  fill(main, h("h1", {}, page.title(rest)));
  if (moved) main.focus();
  try {
    await page.show({ main, parts: rest, signal, comments, report: reportHere });
  } catch (error) {
    reportHere(error);
  }
}

/** The dialog that asks for a token. @param {unknown} [_event] @param {boolean} [wrong] */
function askToken(_event, wrong = false) {
  if (document.querySelector("dialog") !== null) return;
  tokens = true;
  const input = h("input", { type: "password", autocomplete: "off", required: true, spellcheck: "false", name: "token" });
  /** @param {string} text */
  const set = (text) => {
    token.set(text);
    dialog.close();
    show();
  };
  const form = h(
    "form",
    {
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        set(input.value.trim());
      },
    },
    h("h2", { id: "token-title" }, t("token_title")),
    wrong && h("p", { class: "bad", role: "alert" }, t("token_wrong")),
    h("p", { class: "soft" }, t("token_text")),
    h("label", { class: "field" }, h("span", {}, t("token")), input),
    h(
      "p",
      { class: "row" },
      h("button", { class: "main" }, t("use")),
      h("button", { type: "button", onclick: () => dialog.close() }, t("cancel")),
      token.get() !== "" && h("button", { type: "button", onclick: () => set("") }, t("forget_token")),
    ),
  );
  const dialog = h("dialog", { "aria-labelledby": "token-title", onclose: () => dialog.remove() }, form);
  document.body.append(dialog);
  dialog.showModal();
}

wanted.token = () => {
  const wrong = token.get() !== "";
  token.set("");
  tokens = true;
  frame(parts()[0] ?? "");
  askToken(undefined, wrong);
};
part("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address names the page
  main.focus();
});
addEventListener("hashchange", () => show({ moved: true }));

show();
