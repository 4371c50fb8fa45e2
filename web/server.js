// The health of the server, its slow operations (for admins), and all its numbers.
import { ApiError, get, poll } from "./api.js";
import { card, fill, h, table } from "./dom.js";
import { duration, moment, number } from "./format.js";
import { t } from "./text.js";

/** @typedef {import("./figures.js").Info} Info */

const INFO_MS = 5000;

export const title = () => t("server");

/**
 * What the server checks about itself: name, whether it is good, and what it says.
 * @param {Info} info @returns {[string, boolean, string][]}
 */
export function checks(info) {
  const { Journal = {}, Clock = {}, Projector = {}, Store = {}, Filter = {}, Boards = {}, Trends = {}, Limits = {} } =
    info.sections;
  const without = t("without");
  const refused = Limits.limits_refused_ip + Limits.limits_refused_user + Limits.limits_refused_device;
  const open = Filter.filter_live_open + Filter.filter_known_open > 0;
  const exact = Trends.trends_error_max === 0;
  /** @param {any} state */
  const plain = (state) => state === "ok" || state === "none";
  return [
    [
      t("check_journal"),
      plain(Journal.journal_state),
      [Journal.journal_state, Journal.journal_read_only_reason].filter(Boolean).join(": "),
    ],
    [t("check_clock"), plain(Clock.clock_state), Clock.clock_state],
    [
      t("check_projector"),
      plain(Projector.projector_state),
      Projector.projector_state === "none" ? without : Projector.projector_state,
    ],
    [t("check_store"), plain(Store.store_state), Store.store_state === "none" ? without : Store.store_state],
    [
      t("check_filters"),
      !open,
      Filter.filter_state === "none" ? without : open ? t("filters_open") : t("good"),
    ],
    [
      t("check_boards"),
      !(Boards.boards_off > 0 || Boards.boards_full > 0),
      Boards.boards_off > 0 ? t("boards_off", number(Boards.boards_off)) : String(Boards.boards_state),
    ],
    [
      t("check_trends"),
      Trends.trends_state === "none" || exact,
      Trends.trends_state === "none" ? without : exact ? t("exact") : t("not_exact", number(Trends.trends_error_max)),
    ],
    [t("check_limits"), true, t("refused_since", number(refused))],
  ];
}

/** @param {boolean} good */
const mark = (good) =>
  h("span", { class: `badge ${good ? "good" : "bad"}` }, t(good ? "good" : "attention"));

/** @param {Info} info @param {string | undefined} refusal */
function checkTable(info, refusal) {
  /** @type {[string, boolean, string][]} */
  const all = [[t("check_ready"), refusal === undefined, refusal ?? t("yes")], ...checks(info)];
  return table(
    t("checks"),
    [t("check"), t("result"), t("details")],
    all.map(([name, good, said]) => [name, mark(good), said]),
  );
}

/** All numbers, as INFO has them. @param {Info} info */
function numbers(info) {
  return Object.entries(info.sections).map(([section, values]) =>
    h(
      "details",
      {},
      h("summary", {}, section),
      table(
        section,
        [t("name"), t("value")],
        Object.entries(values).map(([name, value]) => [name, typeof value === "number" ? number(value) : value]),
      ),
    ),
  );
}

/** @param {HTMLElement} place @param {AbortSignal} signal */
async function showSlow(place, signal) {
  try {
    const { entries } = await get("slowlog", {}, signal);
    fill(
      place,
      entries.length === 0
        ? h("p", { class: "soft" }, t("none"))
        : table(
            t("slow"),
            [t("time"), t("took"), t("command"), t("client")],
            entries.map((/** @type {any} */ { time, took_us, words, client, name }) => [
              moment(time),
              duration(took_us / 1e6),
              h("code", {}, words.join(" ")),
              [client, name].filter(Boolean).join(" "),
            ]),
          ),
    );
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
    fill(place, h("p", { class: "soft" }, t("needs_admin")));
  }
}

/** @param {import("./main.js").Context} context */
export async function show({ main, signal, report }) {
  const health = h("div"), slow = h("div"), all = h("div");
  main.append(
    card(t("checks"), health, h("p", { class: "soft" }, t("check_offline"))),
    card(t("slow"), slow),
    card(t("numbers"), all),
  );
  fill(all, numbers(await get("info", {}, signal)));
  await showSlow(slow, signal);
  await poll(
    INFO_MS,
    signal,
    async () => {
      const info = await get("info", {}, signal);
      const refusal = await get("readyz", {}, signal).then(
        () => undefined,
        (error) => {
          if (error instanceof ApiError && error.status === 503) return error.message;
          throw error;
        },
      );
      fill(health, checkTable(info, refusal));
    },
    report,
  );
}
