// What two answers of GET /info, one after the other, say about the time between them: rates, percentiles and
// the division of memory. Nothing here touches the page.

const KEPT = 600; // samples: ten minutes
const GAP_MS = 5000; // a longer silence is shown as a gap

/**
 * @typedef {object} Operation
 * @property {string} name
 * @property {number} count all that were answered
 * @property {number} errors
 * @property {number[]} times how many took up to bounds_ns[i], but more than the bound before; the last: longer
 */

/**
 * @typedef {object} Info the answer of GET /info
 * @property {number} uptime_ms
 * @property {Record<string, Record<string, any>>} sections as in INFO, by their titles
 * @property {Operation[]} operations
 * @property {number[]} commit_waits
 * @property {number[]} bounds_ns
 */

/**
 * @typedef {object} Sample
 * @property {Date} time
 * @property {Map<string, number>} rates operations a second, by name
 * @property {number} all operations a second
 * @property {number} errors a second
 * @property {(number | null)[]} run p50 and p99 of operations, in seconds
 * @property {(number | null)[]} wait p50 and p99 of the wait for the journal
 * @property {number} lag in seconds
 * @property {number[]} memory in bytes, in the order of MEMORY
 * @property {Info} info
 */

export const MEMORY = /** @type {const} */ ([
  "memory_data",
  "memory_filters",
  "memory_boards",
  "memory_connections",
  "memory_store",
]);

/**
 * The value below which a share of the values of a histogram is, interpolated within its bucket.
 * @param {number[]} counts @param {number[]} bounds @param {number} share
 * @returns {number | null} in the unit of the bounds; null: there are no values
 */
export function percentile(counts, bounds, share) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  let left = total * share;
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i] ?? 0;
    const low = i === 0 ? 0 : (bounds[i - 1] ?? 0);
    const high = bounds[i] ?? 2 * low;
    if (count > 0 && left <= count) return low + ((high - low) * left) / count;
    left -= count;
  }
  return null;
}

/** @param {number[]} now @param {number[] | undefined} before */
const minus = (now, before) => now.map((count, i) => count - (before?.[i] ?? 0));

/** @param {number[]} counts @param {number[]} bounds */
const percentiles = (counts, bounds) =>
  [0.5, 0.99].map((share) => {
    const value = percentile(counts, bounds, share);
    return value === null ? null : value / 1e9;
  });

/**
 * What the resident memory is used for. What no module counts is the data of the hot tier and the program
 * itself. Sections that the server runs without have no numbers. @param {Info} info
 */
export function memory(info) {
  /** @param {string} section @param {string} name @returns {number} */
  const value = (section, name) => info.sections[section]?.[name] ?? 0;
  const filters =
    value("Filter", "filter_live_bytes") + value("Filter", "filter_known_bytes") + value("Filter", "filter_moving_bytes");
  const boards = value("Boards", "boards_bytes") + value("Trends", "trends_bytes");
  const connections = value("Memory", "used_memory_connections");
  const store = value("Store", "store_memory_bytes");
  const data = value("Memory", "used_memory_rss") - filters - boards - connections - store;
  return [Math.max(0, data), filters, boards, connections, store];
}

/** @param {Info} before @param {Info} now @param {Date} time @returns {Sample} */
export function compare(before, now, time) {
  const seconds = Math.max(now.uptime_ms - before.uptime_ms, 1) / 1000;
  const earlier = new Map(before.operations.map((operation) => [operation.name, operation]));
  const rates = new Map();
  let all = 0, errors = 0;
  const times = now.bounds_ns.map(() => 0).concat(0);
  for (const operation of now.operations) {
    const was = earlier.get(operation.name);
    const rate = (operation.count - (was?.count ?? 0)) / seconds;
    all += rate;
    errors += (operation.errors - (was?.errors ?? 0)) / seconds;
    if (rate > 0) rates.set(operation.name, rate);
    minus(operation.times, was?.times).forEach((count, i) => (times[i] = (times[i] ?? 0) + count));
  }
  return {
    time,
    rates,
    all,
    errors,
    run: percentiles(times, now.bounds_ns),
    wait: percentiles(minus(now.commit_waits, before.commit_waits), now.bounds_ns),
    lag: (now.sections.Projector?.projector_lag_ms ?? 0) / 1000,
    memory: memory(now),
    info: now,
  };
}

/** The samples of the last minutes. */
export class History {
  /** @type {Sample[]} */
  samples = [];
  /** @type {Info | undefined} */
  #last;
  #lastTime = 0;

  /** @param {Info} info @param {Date} time @returns {Sample | undefined} the new sample, if there is one */
  take(info, time) {
    const before = this.#last;
    const gap = time.getTime() - this.#lastTime > GAP_MS;
    this.#last = info;
    this.#lastTime = time.getTime();
    if (before === undefined || gap || info.uptime_ms < before.uptime_ms) return undefined; // or a restart
    if (info.uptime_ms === before.uptime_ms) return this.samples.at(-1);
    const sample = compare(before, info, time);
    this.samples.push(sample);
    if (this.samples.length > KEPT) this.samples.shift();
    return sample;
  }

  /**
   * Rows for a chart: a time, then values. Where nothing was asked for a while, a row without values.
   * @param {number} width how many values a row has @param {(sample: Sample) => (number | null)[]} values
   */
  rows(width, values) {
    /** @type {(Date | number | null)[][]} */
    const rows = [];
    let last = 0;
    for (const sample of this.samples) {
      const at = sample.time.getTime();
      if (last !== 0 && at - last > GAP_MS) rows.push([new Date(last + 1), ...Array(width).fill(null)]);
      rows.push([sample.time, ...values(sample)]);
      last = at;
    }
    return rows;
  }

  /**
   * The busiest operations. A name keeps its place for as long as it is one of them, so that it keeps its
   * color. @param {(string | undefined)[]} places changed
   */
  busiest(places) {
    const sums = new Map();
    for (const sample of this.samples)
      for (const [name, rate] of sample.rates) sums.set(name, (sums.get(name) ?? 0) + rate);
    const best = [...sums].sort((a, b) => b[1] - a[1]).slice(0, places.length).map(([name]) => name);
    for (let i = 0; i < places.length; i++) if (!best.includes(places[i])) places[i] = undefined;
    for (const name of best) if (!places.includes(name)) places[places.indexOf(undefined)] = name;
  }
}
