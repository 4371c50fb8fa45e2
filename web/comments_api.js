// The requests about comments, and nothing else: whoever changes a route or a member changes it here.
import { call, get, url } from "./api.js";

/** The paths by which the console knows that the server has comments. */
export const COMMENTS = "/v1/items/{item}/comments";
export const QUEUE = "/v1/queue/{type}/{state}";

/**
 * @typedef {object} Card a comment as the server shows it
 * @property {string} comment "comment:ID"
 * @property {string | null} user null: the author was forgotten
 * @property {{ comment: string, user: string | null } | null} [reply_to]
 * @property {number} floor
 * @property {number} time
 * @property {number | boolean | null} [edited]
 * @property {string} state visible, pending, hidden, shadow or deleted
 * @property {string | null} [text]
 * @property {Record<string, number>} [counts]
 * @property {boolean} [pinned]
 * @property {Card[]} [replies]
 * @property {number | boolean} [more]
 *
 * @typedef {object} Subject
 * @property {string | null} [owner]
 * @property {string} mode
 * @property {(Card | string)[]} [pinned]
 * @property {number} [roots]
 * @property {number} [comments]
 *
 * @typedef {object} Notice an entry of an inbox
 * @property {string} kind reply or mention
 * @property {string} comment
 * @property {string | null} by
 * @property {number} time
 */

/** @param {any} answer @returns {{ entries: Card[], cursor: string | null }} */
const pageOf = (answer) => ({ entries: answer.comments ?? answer.cards, cursor: answer.cursor });

/** @param {string} item @param {Record<string, string | number | undefined>} query @param {AbortSignal} signal */
export const comments = async (item, query, signal) =>
  pageOf(await get(url`v1/items/${item}/comments`, query, signal));

/** @param {string[]} list @param {AbortSignal} signal @returns {Promise<(Card | null)[]>} null: not for everybody */
export const cards = async (list, signal) =>
  (await call("POST", "v1/cards", { body: { comments: list }, signal })).cards;

/** @param {string} user @param {string | undefined} cursor @param {AbortSignal} signal */
export const written = async (user, cursor, signal) =>
  pageOf(await get(url`v1/users/${user}/comments`, { cursor }, signal));

/** @param {string} type @param {string} state @param {string | undefined} cursor @param {AbortSignal} signal */
export const queue = async (type, state, cursor, signal) =>
  pageOf(await get(url`v1/queue/${type}/${state}`, { cursor }, signal));

/**
 * @param {string} user @param {string | undefined} cursor @param {AbortSignal} signal
 * @returns {Promise<{ entries: Notice[], unread: number, cursor: string | null }>}
 */
export const inbox = (user, cursor, signal) => get(url`v1/users/${user}/inbox`, { cursor }, signal);

/** @param {string} item @param {AbortSignal} signal @returns {Promise<Subject>} */
export const subject = (item, signal) => get(url`v1/items/${item}/subject`, {}, signal);

/** @param {string} item @param {{ owner?: string, mode?: string }} settings */
export const setSubject = (item, settings) => call("PUT", url`v1/items/${item}/subject`, { body: settings });

/** @param {string} comment @param {string} state */
export const moderate = (comment, state) => call("PUT", url`v1/comments/${comment}/state`, { body: { state } });

/** @param {string} comment @param {boolean} pinned */
export const pin = (comment, pinned) => call(pinned ? "PUT" : "DELETE", url`v1/comments/${comment}/pin`);

/** @param {string} user @param {{ until?: number, shadow?: boolean }} how until: seconds since 1970 */
export const ban = (user, how) => call("PUT", url`v1/users/${user}/ban`, { body: how });

/** @param {string} user */
export const unban = (user) => call("DELETE", url`v1/users/${user}/ban`);
