// A real server for a test, requests that fail when a test says so, and a clock that a test drives.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const binary = process.env.LAUD ?? fileURLToPath(new URL("../../../build/laud", import.meta.url));

/** `laud serve` with a directory of its own, on ports that the kernel chose. */
export class Server {
  constructor(...flags) {
    this.flags = flags;
    this.directory = mkdtempSync(join(tmpdir(), "laud-sdk-"));
    process.on("exit", () => {
      this.child?.kill("SIGKILL");
      rmSync(this.directory, { recursive: true, force: true });
    });
  }

  async start() {
    const words = [
      "serve",
      "--data",
      join(this.directory, "data"),
      "--resp",
      "127.0.0.1:0",
      "--http",
      "127.0.0.1:0",
      "--segment-size",
      "4M",
      "--max-memory",
      "64M",
      ...this.flags,
    ];
    this.child = spawn(binary, words, { stdio: ["ignore", "pipe", "pipe"] });
    let log = "";
    await new Promise((resolve, reject) => {
      const read = (chunk) => {
        log += chunk;
        const found = /HTTP on \S*:(\d+),/.exec(log);
        if (found) {
          this.url = `http://127.0.0.1:${found[1]}`;
          resolve();
        }
      };
      this.child.stdout.on("data", read);
      this.child.stderr.on("data", read);
      this.child.on("exit", (code) => reject(new Error(`the server ended with ${code}:\n${log}`)));
      this.child.on("error", reject);
    });
    return this;
  }

  async stop(signal = "SIGTERM") {
    const { child } = this;
    this.child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    await new Promise((resolve) => {
      child.removeAllListeners("exit");
      child.on("exit", resolve);
      child.kill(signal);
    });
  }
}

export async function startServer(t, ...flags) {
  const server = new Server(...flags);
  t.after(() => server.stop());
  return server.start();
}

/**
 * A fetch that records requests. `script` gets the request and its number and may do what a bad network
 * does: throw, answer by itself, or send the request and lose the answer.
 */
export function scripted(script = () => undefined) {
  const requests = [];
  let inFlight = 0;
  const send = async (url, init) => {
    const request = {
      method: init.method,
      path: new URL(url).pathname,
      query: new URL(url).searchParams,
      headers: init.headers,
      body: init.body === undefined ? undefined : JSON.parse(init.body),
      stream: () => fetch(url, init),
    };
    requests.push(request);
    inFlight++;
    try {
      const real = async () => {
        const response = await fetch(url, init);
        return new Response(await response.text(), { status: response.status, headers: response.headers });
      };
      return (await script(request, requests.length, real)) ?? (await real());
    } finally {
      inFlight--;
    }
  };
  return { fetch: send, requests, busy: () => inFlight > 0 };
}

export const lost = () => {
  throw new TypeError("fetch failed");
};

export function refused(status, code, retryAfter) {
  const headers = retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) };
  return new Response(JSON.stringify({ error: { code, message: `the test says ${code}` } }), {
    status,
    headers,
  });
}

/** Time stands still while a request is under way; otherwise it jumps to the next timer. */
export class TestClock {
  time = 1_700_000_000_000;
  timers = [];
  chance = 0.5;

  constructor(busy = () => false) {
    this.busy = busy;
    this.now = () => this.time;
    this.random = () => this.chance;
    this.after = (ms, callback) => {
      const timer = { at: this.time + ms, callback };
      this.timers.push(timer);
      return () => {
        this.timers = this.timers.filter((other) => other !== timer);
      };
    };
  }

  /** Lets time pass until the promise is settled. */
  async settle(promise) {
    let done = false;
    const end = () => {
      done = true;
    };
    promise.then(end, end);
    while (!done) {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      if (!done && !this.busy()) this.step();
    }
    return promise;
  }

  step() {
    this.timers.sort((a, b) => a.at - b.at);
    const timer = this.timers.shift();
    if (timer === undefined) return;
    this.time = Math.max(this.time, timer.at);
    timer.callback();
  }
}

/** Waits for a condition that another process brings about. It fails loudly, and late. */
export async function until(condition, what, ms = 30_000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`it did not happen within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
