// One HTTP request: the address, the headers, the body, and what became of it.
import { LaudError, errorOfAnswer } from "./errors.js";
import type { Arguments, Operation } from "./operation.js";

export interface TransportOptions {
  /** Address of the server or of the proxy in front of it; a path in it is kept. */
  url: string;
  /** Token of the server (Authorization: Bearer), or a function that gives the current one. */
  token?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /** Sent as X-Device-Id, by which the server limits rates. */
  device?: string | undefined;
  /** Sent with every request. */
  headers?: Record<string, string> | undefined;
  /** "include" sends cookies to a proxy of another origin. */
  credentials?: RequestCredentials | undefined;
  fetch?: typeof fetch | undefined;
}

export interface Target {
  method: string;
  path: string;
  body?: unknown;
}

/** The request of an operation by its own route. */
export function targetOf(operation: Operation, args: Arguments): Target {
  const path = (operation.path ?? "").replace(/\{(\w+)\}/g, (_, name: string) =>
    segment(name, String(args[name])),
  );
  const query = new URLSearchParams();
  for (const name of operation.query) if (args[name] !== undefined) query.set(name, String(args[name]));
  const text = query.toString();
  const target: Target = { method: operation.method ?? "GET", path: text === "" ? path : `${path}?${text}` };
  if (operation.body.length > 0) {
    target.body = Object.fromEntries(
      operation.body.filter((name) => args[name] !== undefined).map((name) => [name, args[name]]),
    );
  }
  return target;
}

/** Ids, items and names have no other characters; "..", for example, would make another path of it. */
function segment(name: string, value: string): string {
  if (!/^[\w:-]+$/.test(value))
    throw new LaudError("BAD_ARGUMENT", `'${name}' must be an id, an item or a name, got '${value}'`, {
      status: 400,
    });
  return value;
}

export class Transport {
  private readonly base: string;
  private readonly send: typeof fetch;

  constructor(private readonly options: TransportOptions) {
    this.base = options.url.replace(/\/+$/, "");
    this.send = options.fetch ?? ((...args) => fetch(...args));
  }

  /** The response as soon as its head is there. Rejects with a LaudError, or with the signal's reason. */
  async open(target: Target, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { ...this.options.headers };
    const token = typeof this.options.token === "function" ? await this.options.token() : this.options.token;
    if (token !== undefined) headers["Authorization"] = `Bearer ${token}`;
    if (this.options.device !== undefined) headers["X-Device-Id"] = this.options.device;
    const init: RequestInit = { method: target.method, headers, signal, cache: "no-store" };
    if (this.options.credentials !== undefined) init.credentials = this.options.credentials;
    if (target.body !== undefined) {
      headers["Content-Type"] = "application/json";
      init.body = JSON.stringify(target.body);
    }
    let response: Response;
    try {
      response = await this.send(this.base + target.path, init);
    } catch (error) {
      throw failure(error, signal);
    }
    if (!response.ok) throw await readError(response);
    return response;
  }

  async json(target: Target, signal: AbortSignal): Promise<unknown> {
    const response = await this.open(target, signal);
    let text: string;
    try {
      text = await response.text();
    } catch (error) {
      throw failure(error, signal);
    }
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new LaudError("BAD_ANSWER", "the answer is not JSON", { cause: error });
    }
  }
}

function failure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  return new LaudError(
    "NETWORK",
    `there was no answer: ${error instanceof Error ? error.message : String(error)}`,
    { cause: error },
  );
}

async function readError(response: Response): Promise<LaudError> {
  const text = await response.text().catch(() => "");
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch {
    // An error page of a proxy: the status says enough.
  }
  return errorOfAnswer(response.status, response.headers.get("Retry-After"), body);
}
