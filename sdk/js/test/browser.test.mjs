// The package in real Chromium: IndexedDB, tabs, logouts and live counts.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import net from "node:net";
import { test } from "node:test";
import { Laud } from "../dist/index.js";
import { startServer, until } from "./helper.mjs";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const playwright = await import("playwright-core").catch(() => undefined);
const skip =
  playwright === undefined
    ? "playwright-core is not installed; script/bootstrap installs it"
    : !existsSync(executablePath) && "chromium is not installed; script/bootstrap installs it";

/** Serves an empty page and the package, as a web site does. */
async function startSite(t) {
  const site = createServer(async (request, response) => {
    if (request.url === "/") {
      response.setHeader("Content-Type", "text/html");
      response.end("<!doctype html><title>test</title>");
    } else if (/^\/dist\/\w+\.js$/.test(request.url)) {
      response.setHeader("Content-Type", "text/javascript");
      response.end(await readFile(new URL(`..${request.url}`, import.meta.url)));
    } else {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    site.closeAllConnections();
    site.close();
  });
  return `http://127.0.0.1:${site.address().port}`;
}

/** A network between page and server that can be cut. */
async function startWire(t, server) {
  const sockets = new Set();
  const wire = net.createServer((near) => {
    const far = net.connect(Number(new URL(server.url).port), "127.0.0.1");
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ]) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise((resolve) => wire.listen(0, "127.0.0.1", resolve));
  const cut = () => sockets.forEach((socket) => socket.destroy());
  t.after(() => {
    cut();
    wire.close();
  });
  return { url: `http://127.0.0.1:${wire.address().port}`, cut };
}

test("in Chromium", { skip }, async (t) => {
  const [server, site, browser] = await Promise.all([
    startServer(t, "--cors-origin", "*"),
    startSite(t),
    playwright.chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] }),
  ]);
  t.after(() => browser.close());
  const laud = new Laud({ url: server.url });

  /** A tab with the package and a client as globals. */
  const openTab = async (context, url = server.url) => {
    const page = await context.newPage();
    page.asked = [];
    page.on("request", (request) => page.asked.push(new URL(request.url())));
    page.load = async () => {
      await page.goto(site);
      await page.evaluate(
        async ({ url }) => {
          globalThis.sdk = await import("/dist/index.js");
          globalThis.laud = new sdk.Laud({ url, live: { firstMs: 20, mostMs: 100 } });
        },
        { url },
      );
      page.asked.length = 0;
    };
    await page.load();
    return page;
  };
  const rounds = (page) => page.asked.filter(({ pathname }) => pathname.endsWith("/changes"));

  await t.test("the copy survives a reload and answers without a request", async () => {
    await Promise.all([1, 2, 3].map((i) => laud.like({ user: "1", item: `video:${i}` })));
    const context = await browser.newContext();
    const page = await openTab(context);
    const size = await page.evaluate(async () => {
      const own = await laud.ownReactions("1", { everyMs: 0, page: 2 });
      await own.sync();
      return own.size;
    });
    assert.deepEqual([size, rounds(page).length], [3, 2]);
    await page.load();
    const found = await page.evaluate(async () => {
      globalThis.own = await laud.ownReactions("1", { everyMs: 0 });
      return [
        own.complete,
        own.has("like", "video:1"),
        own.has("like", "video:9"),
        await own.liked(["video:2", "video:8"]),
      ];
    });
    assert.deepEqual([found, page.asked], [[true, true, false, [true, false]], []]);
    await laud.unlike({ user: "1", item: "video:2" });
    assert.deepEqual(
      await page.evaluate(async () => {
        await own.sync();
        return own.liked(["video:1", "video:2"]);
      }),
      [true, false],
    );
    assert.deepEqual(
      rounds(page).map(({ searchParams }) => searchParams.has("since")),
      [true],
    );
    await context.close();
  });

  await t.test("tabs share the copy, and a logout in one of them reaches the others", async () => {
    await laud.like({ user: "2", item: "tab:1" });
    const context = await browser.newContext();
    const tabs = [await openTab(context), await openTab(context)];
    const [first, second] = tabs;
    await Promise.all(
      tabs.map((page) =>
        page.evaluate(async () => {
          globalThis.own = await laud.ownReactions("2", { everyMs: 0 });
          globalThis.other = await laud.ownReactions("3", { everyMs: 0 });
          await Promise.all([own.sync(), other.sync()]);
          globalThis.reactions = laud.reactionsOf("2", { own });
        }),
      ),
    );
    const since = tabs
      .flatMap(rounds)
      .filter(({ pathname }) => pathname.includes("/2/"))
      .map(({ searchParams }) => searchParams.has("since"));
    assert.deepEqual(since.sort(), [false, true], "one tab made the first round, the other one went on");
    await first.evaluate(() => reactions.like("tab:2"));
    await second.waitForFunction(() => own.has("like", "tab:2") && reactions.view("like", "tab:2").set);
    assert.deepEqual(
      second.asked.filter(({ pathname }) => pathname.includes("tab:2")),
      [],
    );
    const next = await first.evaluate(
      async ({ name }) => {
        // A logout and a login that the copy of user 3 has not heard of.
        const store = await sdk.IndexedDbStore.open(name);
        await store.remove("3");
        const fresh = { session: "next", cursor: "", complete: false, dropped: false, synced: 0 };
        await store.load("3", fresh);
        await other.acknowledge("like", "tab:3", true);
        await other.sync();
        return [await store.load("3", fresh), other.size];
      },
      { name: `laud ${server.url}` },
    );
    assert.deepEqual(next, [
      { record: { session: "next", cursor: "", complete: false, dropped: false, synced: 0 }, entries: [] },
      0,
    ]);
    await first.evaluate(() => own.logout());
    await second.waitForFunction(() => own.size === 0);
    const kept = await second.evaluate(
      async ({ name }) => {
        const refused = await own.sync().catch((error) => error.code);
        const database = await new Promise((resolve) => {
          const request = indexedDB.open(name);
          request.onsuccess = () => resolve(request.result);
        });
        const read = (table) =>
          new Promise((resolve) => {
            const request = database.transaction(table).objectStore(table).getAllKeys();
            request.onsuccess = () => resolve(request.result);
          });
        return { refused, users: await read("users"), reactions: await read("reactions") };
      },
      { name: `laud ${server.url}` },
    );
    assert.deepEqual(kept, { refused: "CLOSED", users: ["3"], reactions: [] });
    await context.close();
  });

  await t.test("STARTOVER: the copy is made anew", async (inner) => {
    const short = await startServer(inner, "--cors-origin", "*", "--changes-ttl", "1s");
    const near = new Laud({ url: short.url });
    await Promise.all(["old:1", "old:2"].map((item) => near.like({ user: "1", item })));
    const context = await browser.newContext();
    const page = await openTab(context, short.url);
    await page.evaluate(async () => {
      globalThis.own = await laud.ownReactions("1", { everyMs: 0 });
      await own.sync();
    });
    const { cursor } = await near.changes({ user: "1" });
    await near.unlike({ user: "1", item: "old:2" });
    await until(async () => {
      await near.like({ user: "1", item: "old:3" });
      await near.unlike({ user: "1", item: "old:3" });
      return near.changes({ user: "1", since: cursor }).then(
        () => false,
        (error) => error.status === 410,
      );
    }, "the cursor is too old");
    assert.deepEqual(
      await page.evaluate(async () => {
        await own.sync();
        return [own.complete, own.size, await own.liked(["old:1", "old:2"])];
      }),
      [true, 1, [true, false]],
    );
    await context.close();
  });

  await t.test("live counts arrive, and a lost stream resumes", async (inner) => {
    const wire = await startWire(inner, server);
    const context = await browser.newContext();
    const page = await openTab(context, wire.url);
    await page.evaluate(() => {
      globalThis.events = [];
      laud.live(["live:1"], (_, counts) => events.push(counts.like ?? 0));
    });
    await page.waitForFunction(() => events.length === 1);
    await laud.like({ user: "1", item: "live:1" });
    await page.waitForFunction(() => events.at(-1) === 1);
    wire.cut();
    await until(() => page.asked.some(({ searchParams }) => searchParams.has("last")), "the stream resumes");
    await laud.like({ user: "2", item: "live:1" });
    await page.waitForFunction(() => events.at(-1) === 2);
    assert.deepEqual(await page.evaluate(() => events), [0, 1, 2], "nothing was sent twice");
    const closed = page.waitForEvent("requestfailed", (request) => request.url().includes("/v1/live"));
    const show = (state) =>
      page.evaluate((visibilityState) => {
        Object.defineProperty(document, "visibilityState", { value: visibilityState, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, state);
    await show("hidden");
    await closed;
    await laud.like({ user: "3", item: "live:1" });
    await show("visible");
    await page.waitForFunction(() => events.at(-1) === 3);
    assert.deepEqual(await page.evaluate(() => events), [0, 1, 2, 3]);
    await context.close();
  });
});
