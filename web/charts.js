// Charts of values over time, drawn by dygraphs. The legend is ours: dygraphs' own has inline styles, which the
// page's policy forbids, and a screen reader can read this one instead of the picture.
import { h, say } from "./dom.js";

/** @typedef {import("./dygraph.min.d.ts").Chart} Drawn */

const SPAN_MS = 2 * 60 * 1000; // a chart begins at least so long ago, so that its scale does not jump

/** Loaded when the first chart is made, so that the page is there before it. @type {Promise<void> | undefined} */
let library;

async function load() {
  // It is no module: it sets window.Dygraph.
  library ??= import("./dygraph.min.js").then(() => {
    window.Dygraph.PLUGINS = window.Dygraph.PLUGINS.filter((one) => one !== window.Dygraph.Plugins.Legend);
  });
  await library;
}

/** @param {number} count */
function colors(count) {
  const style = getComputedStyle(document.documentElement);
  return Array.from({ length: count }, (_, i) => style.getPropertyValue(`--series-${i + 1}`).trim());
}

/**
 * @param {{ title: string, format: (value: number) => string, stacked?: boolean, log?: boolean, binary?: boolean }} options
 * @param {AbortSignal} signal the chart ends with it
 */
export function chart({ title, format, stacked = false, log = false, binary = false }, signal) {
  const plot = h("div", { class: "plot", role: "img", "aria-label": title });
  const legend = h("ul", { class: "legend" });
  const element = h("section", { class: "card chart" }, h("h2", {}, title), plot, legend);
  /** @type {Drawn | undefined} */
  let drawn;
  /** @type {string[]} */
  let shown = [];
  /** @type {(number | null)[] | undefined} */
  let pointed;
  /** @type {(Date | number | null)[][]} */
  let rows = [];

  function writeLegend() {
    const values = pointed ?? /** @type {(number | null)[]} */ (rows.at(-1)?.slice(1) ?? []);
    [...legend.children].forEach((entry, i) => {
      const value = values[i];
      const b = entry.querySelector("b");
      if (b) say(b, typeof value === "number" ? format(value) : "–");
    });
  }

  /** @param {string[]} labels */
  function name(labels) {
    shown = labels;
    legend.replaceChildren(
      ...labels.map((label, i) => h("li", {}, h("i", { class: `series-${i + 1}` }), `${label} `, h("b"))),
    );
  }

  const look = () => {
    const style = getComputedStyle(document.documentElement);
    return {
      colors: colors(shown.length),
      axisLineColor: style.getPropertyValue("--line").trim(),
      gridLineColor: style.getPropertyValue("--line").trim(),
    };
  };

  /** @param {string[]} labels @param {(Date | number | null)[][]} data */
  async function draw(labels, data) {
    rows = data;
    if (labels.join("\n") !== shown.join("\n")) name(labels);
    writeLegend();
    await load();
    if (signal.aborted || !plot.isConnected) return;
    const logscale = log && data.some((row) => row.slice(1).some((value) => Number(value) > 0));
    const first = Number(data[0]?.[0]), last = Number(data.at(-1)?.[0]);
    const dateWindow = [Math.min(first, last - SPAN_MS), last];
    const content = { file: data, labels: ["", ...labels], logscale, dateWindow };
    if (drawn) drawn.updateOptions({ ...content, colors: colors(labels.length) });
    else if (data.length > 1) drawn = create(content);
  }

  /** @param {{ file: unknown, labels: string[], logscale: boolean, dateWindow: number[] }} content */
  function create({ file, ...content }) {
    return new window.Dygraph(plot, file, {
      ...look(),
      ...content,
      stackedGraph: stacked,
      labelsKMG2: binary,
      includeZero: !log,
      strokeWidth: 1.5,
      fillAlpha: 0.35,
      highlightCircleSize: 3,
      interactionModel: {}, // no zoom: a finger on the chart scrolls the page
      axes: {
        x: { drawGrid: false, axisLabelWidth: 70 },
        y: { axisLabelFormatter: format, axisLabelWidth: 64 },
      },
      highlightCallback: (/** @type {any} */ _event, /** @type {any} */ _x, /** @type {any[]} */ points) => {
        pointed = shown.map((label) => points.find((point) => point.name === label)?.yval ?? null);
        writeLegend();
      },
      unhighlightCallback: () => {
        pointed = undefined;
        writeLegend();
      },
    });
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn?.updateOptions(look()), {
    signal,
  });
  signal.addEventListener("abort", () => drawn?.destroy());
  return { element, draw };
}
