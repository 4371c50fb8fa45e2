// Requests to the server. All paths are relative to the page, so the console works behind a path of a proxy.
// The token is kept in sessionStorage, which belongs to this tab and ends with it.

const TOKEN = "laud-token";

export class ApiError extends Error {
  /** @param {number} status 0: there was no answer @param {string} code @param {string} message */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? "",
  /** @param {string} text "": forgets the token */
  set: (text) => (text === "" ? sessionStorage.removeItem(TOKEN) : sessionStorage.setItem(TOKEN, text)),
};

/** Called when the server refuses a request because it has no valid token. */
export const wanted = { token: () => {} };

/**
 * A path whose values are escaped: url`v1/items/${item}/counts`.
 * @param {TemplateStringsArray} strings @param {...string} values
 */
export function url(strings, ...values) {
  return strings.reduce((path, text, i) => path + encodeURIComponent(values[i - 1] ?? "") + text);
}

/**
 * @param {string} method @param {string} path
 * @param {{ query?: Record<string, string | number | undefined>, body?: object, signal?: AbortSignal }} [more]
 * @returns {Promise<any>} the JSON of the answer
 */
export async function call(method, path, { query = {}, body, signal } = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (token.get() !== "") headers.Authorization = `Bearer ${token.get()}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response, answer;
  try {
    response = await fetch(search === "" ? path : `${path}?${search}`, {
      method,
      headers,
      signal: signal ?? null,
      credentials: "same-origin",
      cache: "no-store",
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    answer = await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(response?.status ?? 0, "NO_ANSWER", String(error));
  }
  if (response.ok) return answer;
  if (response.status === 401) wanted.token();
  throw new ApiError(response.status, answer.error?.code ?? "", answer.error?.message ?? response.statusText);
}

/** @param {string} path @param {Record<string, string | number | undefined>} [query] @param {AbortSignal} [signal] */
export const get = (path, query = {}, signal) =>
  call("GET", path, { query, ...(signal && { signal }) });

/** @type {Promise<any> | undefined} */
let document_;

/**
 * Does the server have this path and method? Its OpenAPI document says so; it is open to everybody.
 * @param {string} method @param {string} path as in the document, e.g. "/v1/items/{item}/comments"
 */
export async function has(method, path) {
  document_ ??= get("openapi.json").catch((error) => {
    document_ = undefined; // asked again the next time
    throw error;
  });
  return (await document_).paths[path]?.[method] !== undefined;
}

/**
 * The names of types, kinds and counters that are in use. A token that is only for some types may not ask for
 * them; then the lists are empty.
 * @param {AbortSignal} [signal]
 */
export async function names(signal) {
  /** @type {{ name: string, role: string }[]} */
  let list = [];
  try {
    list = (await get("v1/names", {}, signal)).names;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
  }
  /** @param {string} role */
  const of = (role) => list.filter((name) => name.role === role).map((name) => name.name);
  return { types: of("type"), kinds: of("kind"), counters: of("counter") };
}

const visible = () =>
  new Promise((resolve) => {
    if (!document.hidden) resolve(undefined);
    else document.addEventListener("visibilitychange", resolve, { once: true });
  });

/**
 * Calls a function again and again, `ms` after it ended, until the signal is aborted. Not while the tab is
 * hidden: a console in a forgotten tab costs the server nothing.
 * @param {number} ms @param {AbortSignal} signal
 * @param {(signal: AbortSignal) => Promise<void>} ask
 * @param {(error: unknown) => void} failed called with the error, or with undefined after a success
 */
export async function poll(ms, signal, ask, failed) {
  while (!signal.aborted) {
    await visible();
    let wait = ms;
    try {
      if (!signal.aborted) await ask(signal);
      if (!signal.aborted) failed(undefined);
    } catch (error) {
      if (signal.aborted) return;
      failed(error);
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return;
      wait = Math.max(2000, ms);
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}
