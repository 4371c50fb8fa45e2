// Numbers, sizes and times as people read them, in the language of the console.
import { language } from "./text.js";

/** @param {number} value */
export const number = (value) => new Intl.NumberFormat(language()).format(value);

/** A rate or another number that may be large: 1.2K. @param {number} value */
export const short = (value) =>
  new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 }).format(value);

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** @param {number} value */
export function bytes(value) {
  let at = 0;
  for (; value >= 1024 && at + 1 < SIZES.length; at++) value /= 1024;
  return `${value >= 100 || at === 0 ? Math.round(value) : value.toFixed(1)} ${SIZES[at]}`;
}

/** How long something takes. @param {number} seconds */
export function duration(seconds) {
  if (seconds === 0) return "0 s";
  const [value, unit] =
    seconds < 1e-3 ? [seconds * 1e6, "µs"] : seconds < 1 ? [seconds * 1e3, "ms"] : [seconds, "s"];
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(2))} ${unit}`;
}

/** How long something has lasted: 3d 4h, 5m 6s. @param {number} seconds */
export function age(seconds) {
  const steps = /** @type {const} */ ([
    ["d", 86400],
    ["h", 3600],
    ["m", 60],
    ["s", 1],
  ]);
  const words = [];
  for (const [unit, size] of steps) {
    if (seconds >= size || (unit === "s" && words.length === 0)) words.push(`${Math.floor(seconds / size)}${unit}`);
    seconds %= size;
  }
  return words.slice(0, 2).join(" ");
}

/** A moment. @param {number} seconds since 1970 */
export const moment = (seconds) =>
  new Intl.DateTimeFormat(language(), { dateStyle: "medium", timeStyle: "medium" }).format(seconds * 1000);
