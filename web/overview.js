// What the server does now: charts of the last minutes, the state of journal and store, and what is hot.
import { ApiError, get, poll } from "./api.js";
import { chart } from "./charts.js";
import { card, facts, fill, h, say, table } from "./dom.js";
import { History, MEMORY } from "./figures.js";
import { age, bytes, duration, number, short } from "./format.js";
import { t } from "./text.js";

/** @typedef {import("./main.js").Context} Context @typedef {import("./figures.js").Sample} Sample */

const INFO_MS = 1000;
const HOT_MS = 2000;
const READY_MS = 5000;
const SHOWN = 6; // operations with a color of their own

/** It outlives the page, so that the charts are not empty when one comes back. */
const history = new History();
/** @type {(string | undefined)[]} */
const busiest = Array(SHOWN).fill(undefined);

export const title = () => t("overview");

/** Values with a label that change every second. @param {string[]} keys */
function tiles(keys) {
  const values = keys.map(() => h("dd", {}, "–"));
  const element = h("dl", { class: "tiles" }, keys.map((key, i) => h("div", {}, h("dt", {}, t(key)), values[i])));
  /** @param {string[]} texts */
  const set = (texts) => texts.forEach((text, i) => values[i] && say(values[i], text));
  return { element, set };
}

/** @param {Sample} sample */
function tileTexts({ all, errors, run, lag, info }) {
  const { Memory, Clients, Server } = info.sections;
  const p99 = run[1];
  return [
    short(all),
    short(errors),
    typeof p99 === "number" ? duration(p99) : "–",
    info.sections.Projector?.projector_lag_bytes === undefined ? "–" : duration(lag),
    t("of", bytes(Memory?.used_memory_rss), bytes(Memory?.maxmemory)),
    number(Clients?.connected_clients),
    age(Server?.uptime_in_seconds),
  ];
}

/** @param {Sample} sample @param {Sample | undefined} before */
function journalFacts(sample, before) {
  const journal = sample.info.sections.Journal ?? {};
  const was = before?.info.sections.Journal ?? journal;
  const seconds = Math.max(sample.info.uptime_ms - (before?.info.uptime_ms ?? 0), 1) / 1000;
  const syncs = journal.journal_syncs - was.journal_syncs;
  const spent = (journal.journal_sync_microseconds - was.journal_sync_microseconds) / 1e6;
  return facts([
    [t("state"), journal.journal_state],
    [t("durability"), journal.journal_durability],
    [t("size"), bytes(journal.journal_bytes)],
    [t("segments"), number(journal.journal_segments)],
    [t("events"), number(journal.journal_events)],
    [t("events_rate"), short((journal.journal_events - was.journal_events) / seconds)],
    [t("sync_time"), syncs > 0 ? duration(spent / syncs) : "–"],
  ]);
}

/** @param {Sample} sample */
function storeFacts({ info }) {
  const store = info.sections.Store ?? {};
  const projector = info.sections.Projector ?? {};
  if (store.store_name === undefined) return h("p", {}, t("without"));
  return facts([
    [t("state"), `${store.store_name}: ${store.store_state}`],
    [t("disk"), bytes(store.store_disk_bytes)],
    [t("reactions"), number(store.store_reactions)],
    [t("merges"), number(store.store_merges)],
    [t("lag_bytes"), bytes(projector.projector_lag_bytes)],
    [t("lag_events"), number(projector.projector_lag_events)],
    [t("checkpoints"), number(projector.projector_checkpoints)],
  ]);
}

/**
 * The hottest items and users. Only an admin's token for all types may see them.
 * @param {HTMLElement} place @param {AbortSignal} signal
 */
async function showHot(place, signal) {
  /** @param {unknown} error */
  const failed = (error) => {
    if (!(error instanceof ApiError) || error.status === 401) return;
    const text = error.status === 403 ? t("needs_admin") : error.message;
    fill(place, card(t("hot_items"), h("p", { class: "soft" }, text)));
  };
  await poll(
    HOT_MS,
    signal,
    async () => {
      const { items, users } = await get("hotkeys", {}, signal);
      /** @param {string} key @param {string} page @param {{ name: string, rate: number }[]} list */
      const ranks = (key, page, list) =>
        card(
          t(key === "item" ? "hot_items" : "hot_users"),
          list.length === 0
            ? h("p", { class: "soft" }, t("none"))
            : table(
                t(key === "item" ? "hot_items" : "hot_users"),
                [t(key), t("uses")],
                list.slice(0, 10).map(({ name, rate }) => [
                  h("a", { href: `#/${page}/${encodeURIComponent(name)}` }, name),
                  short(rate),
                ]),
              ),
        );
      const focused = place.contains(document.activeElement); // a link must not vanish under the keyboard
      if (!focused)
        fill(
          place,
          ranks("item", "items", items.map((/** @type {any} */ { item, rate }) => ({ name: item, rate }))),
          ranks("user", "users", users.map((/** @type {any} */ { user, rate }) => ({ name: user, rate }))),
        );
    },
    failed,
  );
}

/** Whether the server takes writes. @param {HTMLElement} place @param {AbortSignal} signal */
function showReady(place, signal) {
  return poll(
    READY_MS,
    signal,
    async () => {
      await get("readyz", {}, signal);
      fill(place, h("span", { class: "badge good" }, t("takes_writes")));
    },
    (error) => {
      if (error instanceof ApiError && error.status === 503)
        fill(place, h("span", { class: "badge bad" }, t("refuses_writes", error.message)));
    },
  );
}

function firstLike() {
  const address = new URL("v1/items/video:42/reactions/like/1", document.baseURI).href.replace(/'/g, "%27");
  return card(
    t("first_like"),
    h("p", {}, t("first_like_text")),
    h("pre", { tabindex: 0 }, h("code", {}, `curl -X PUT '${address}'`)),
  );
}

/** @param {Context} context */
export async function show({ main, signal, report }) {
  const ready = h("p", { role: "status" });
  const tile = tiles(["operations", "errors", "latency_p99", "lag", "memory", "connections", "uptime"]);
  const hint = h("div");
  const operations = chart({ title: t("operations"), format: short, stacked: true }, signal);
  const latency = chart({ title: t("latency"), format: duration, log: true }, signal);
  const lag = chart({ title: t("lag"), format: duration }, signal);
  const memory = chart({ title: t("memory"), format: bytes, stacked: true, binary: true }, signal);
  const hot = h("div", { class: "grid" });
  const journal = h("div"), store = h("div");
  main.append(
    ready,
    tile.element,
    hint,
    h("div", { class: "grid" }, operations.element, latency.element, lag.element, memory.element),
    hot,
    h("div", { class: "grid" }, card(t("journal"), journal), card(t("store"), store)),
  );

  function draw() {
    const sample = history.samples.at(-1);
    if (sample === undefined) return;
    tile.set(tileTexts(sample));
    fill(hint, (sample.info.sections.Hot?.hot_types ?? 0) === 0 && firstLike());
    fill(journal, journalFacts(sample, history.samples.at(-10) ?? history.samples[0]));
    fill(store, storeFacts(sample));
    history.busiest(busiest);
    const shown = busiest.filter((name) => name !== undefined);
    operations.draw(
      [...shown, t("other")],
      history.rows(shown.length + 1, ({ rates, all }) => {
        const values = shown.map((name) => rates.get(name) ?? 0);
        return [...values, Math.max(0, all - values.reduce((sum, value) => sum + value, 0))];
      }),
    );
    latency.draw(
      [t("run_p50"), t("run_p99"), t("wait_p50"), t("wait_p99")],
      history.rows(4, ({ run, wait }) => [...run, ...wait]),
    );
    lag.draw([t("lag")], history.rows(1, (one) => [one.lag]));
    memory.draw(MEMORY.map((key) => t(key)), history.rows(MEMORY.length, (one) => one.memory));
  }

  draw();
  await Promise.all([
    showReady(ready, signal),
    showHot(hot, signal),
    poll(
      INFO_MS,
      signal,
      async () => {
        history.take(await get("info", {}, signal), new Date());
        draw();
      },
      report,
    ),
  ]);
}
