// Live counts and live comments in Node: shared streams, resumption, and refusals.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Laud } from "../dist/index.js";
import { scripted, startServer, until } from "./helper.mjs";

/** A fetch that keeps the addresses of streams, can cut them, and finds the server after a restart. */
function streams(server) {
  const opened = [];
  const send = async (address, init) => {
    const url = server.url + address.replace(/^http:\/\/[^/]+/, "");
    if (!url.includes("/v1/live")) return fetch(url, init);
    const controller = new AbortController();
    init.signal.addEventListener("abort", () => controller.abort(init.signal.reason));
    const stream = {
      query: new URL(url).searchParams,
      cut: () => controller.abort(new TypeError("terminated")),
      open: true,
    };
    init.signal.addEventListener("abort", () => {
      stream.open = false;
    });
    opened.push(stream);
    return fetch(url, { ...init, signal: controller.signal });
  };
  return { fetch: send, opened };
}

test("live counts", async (t) => {
  const server = await startServer(t);
  const make = (live = {}) => {
    const wire = streams(server);
    const laud = new Laud({ url: server.url, fetch: wire.fetch, live: { firstMs: 10, mostMs: 50, ...live } });
    t.after(() => laud.close());
    return { laud, opened: wire.opened };
  };

  await t.test("many subscribers share a stream", async () => {
    const { laud, opened } = make();
    const seen = { a: {}, b: {} };
    laud.live(["live:1", "live:2"], (item, counts) => {
      seen.a[item] = counts;
    });
    const second = laud.live(["live:2", "live:3"], (item, counts) => {
      seen.b[item] = counts;
    });
    await until(() => Object.keys(seen.a).length === 2 && Object.keys(seen.b).length === 2, "the first event");
    assert.deepEqual(seen.a, { "live:1": {}, "live:2": {} });
    assert.deepEqual(
      opened.map(({ query }) => query.get("items")),
      ["live:1,live:2,live:3"],
    );
    await laud.like({ user: "1", item: "live:2" });
    await until(() => seen.a["live:2"].like === 1 && seen.b["live:2"].like === 1, "the like");
    await laud.unlike({ user: "1", item: "live:2" });
    await until(() => Object.keys(seen.a["live:2"]).length === 0, "a counter of 0 is not shown");
    const late = {};
    laud.live(["live:1"], (item, counts) => {
      late[item] = counts;
    });
    await until(() => late["live:1"], "counts that are there already");
    second.close();
    await laud.like({ user: "1", item: "live:1" });
    await until(() => seen.a["live:1"].like === 1 && late["live:1"].like === 1, "after one has gone");
    assert.equal(opened.length, 1, "nothing of that needed another stream");
    laud.close();
    assert.equal(opened[0].open, false);
  });

  await t.test("more items than a stream takes are put into several, up to the limit", async () => {
    const { laud, opened } = make({ items: 4 });
    const seen = new Set();
    laud.live(
      Array.from({ length: 6 }, (_, i) => `many:${i}`),
      (item) => seen.add(item),
    );
    await until(() => seen.size === 6, "all items");
    assert.deepEqual(
      opened.map(({ query }) => query.get("items").split(",").length),
      [4, 2],
    );
    laud.live(["many:6"], (item) => seen.add(item));
    await until(() => seen.size === 7, "one more item");
    assert.deepEqual(
      opened.filter(({ open }) => open).map(({ query }) => query.get("items").split(",").length),
      [4, 3],
    );
    assert.throws(() => laud.live(["many:7", "many:8"], () => undefined), { code: "TOO_MANY_ITEMS" });
    assert.throws(() => laud.live(["Many 7"], () => undefined), { code: "BAD_ARGUMENT" });
  });

  await t.test("a stream of which little is wanted any more is replaced by a smaller one", async () => {
    const { laud, opened } = make();
    const seen = new Set();
    laud.live(["few:1"], (item) => seen.add(item));
    const many = laud.live(["few:2", "few:3", "few:4"], (item) => seen.add(item));
    await until(() => seen.size === 4, "all items");
    many.close();
    await until(() => opened.length === 2, "another stream");
    assert.deepEqual([opened[0].open, opened[1].query.get("items")], [false, "few:1"]);
  });

  await t.test("a lost stream resumes after its last event", async () => {
    const { laud, opened } = make();
    const events = [];
    laud.live(["cut:1"], (_, counts) => events.push(counts.like ?? 0));
    await until(() => events.length === 1, "the first event");
    opened[0].cut();
    await until(() => opened.length === 2, "a second stream");
    assert.match(opened[1].query.get("last"), /^[0-9a-f]{16}$/);
    await laud.like({ user: "1", item: "cut:1" });
    await until(() => events.length === 2, "the like");
    assert.deepEqual(events, [0, 1], "nothing was sent twice");
  });

  await t.test("a stream that is silent is opened again", async () => {
    const { laud, opened } = make({ silentMs: 100 });
    laud.live(["silent:1"], () => undefined);
    await until(() => opened.length >= 3, "further streams");
  });

  await t.test("an error of a listener does not end the stream", async (inner) => {
    const { laud, opened } = make();
    const uncaught = [];
    const listen = (error) => uncaught.push(error.message);
    const before = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.on("uncaughtException", listen);
    inner.after(() => {
      process.removeListener("uncaughtException", listen);
      before.forEach((each) => process.on("uncaughtException", each));
    });
    const seen = [];
    laud.live(["wrong:1"], () => {
      throw new Error("of the page");
    });
    laud.live(["wrong:1"], (_, counts) => seen.push(counts));
    await until(() => seen.length === 1 && uncaught.length === 1, "both listeners");
    assert.equal(opened.length, 1);
  });

  await t.test("a server that stops and starts again is found", async () => {
    const { laud, opened } = make();
    const counts = [];
    laud.live(["stop:1"], (_, { like = 0 }) => counts.push(like));
    await until(() => counts.length === 1, "the first event");
    await server.stop();
    await server.start();
    await laud.like({ user: "1", item: "stop:1" });
    await until(() => counts.at(-1) === 1, "the like after the restart");
    assert.ok(opened.length >= 2);
    assert.deepEqual(counts, [0, 1]);
  });

  await t.test("a refusal for good reaches the subscribers", async (inner) => {
    const other = await startServer(inner);
    const laud = new Laud({ url: `${other.url}/nowhere` });
    const error = await new Promise((resolve) => laud.live(["no:1"], () => undefined, resolve));
    assert.deepEqual([error.code, error.status], ["NOT_FOUND", 404]);
    laud.close();
  });
});

test("live comments: the beginning, new, changed and removed ones; subscribers share a stream", async (t) => {
  const server = await startServer(t);
  const wire = scripted(({ path, stream }) => (path.endsWith("/live") ? stream() : undefined));
  const laud = new Laud({ url: server.url, fetch: wire.fetch });
  t.after(() => laud.close());
  const first = await laud.comment({ user: "1", item: "video:1", text: "before" });
  const events = [];
  const subscription = laud.liveComments("video:1", (event) => events.push(event));
  await until(() => events.length === 1, "the stream begins");
  assert.deepEqual(events.shift(), { type: "begin" });
  const reply = await laud.comment({ user: "2", item: first.comment, text: "a reply" });
  await until(() => events.length === 1, "the reply");
  assert.deepEqual([events[0].type, events[0].root, events[0].card.text], ["new", first.comment, "a reply"]);
  await laud.edit({ user: "1", comment: first.comment, text: "after" });
  await until(() => events.length === 2, "the edit");
  assert.deepEqual([events[1].type, events[1].root, events[1].card.text], ["changed", null, "after"]);
  await laud.uncomment({ user: "2", comment: reply.comment });
  await until(() => events.length >= 3, "the removal");
  assert.deepEqual(events.find(({ type }) => type === "removed"), { type: "removed", comment: reply.comment });
  const late = [];
  const other = laud.liveComments("video:1", (event) => late.push(event.type));
  await until(() => late.length === 1, "who comes later is told that it has begun");
  assert.deepEqual(late, ["begin"]);
  assert.equal(wire.requests.filter(({ path }) => path.endsWith("/comments/live")).length, 1);
  assert.throws(() => laud.liveComments("no item", () => undefined), { code: "BAD_ARGUMENT" });
  subscription.close();
  other.close();
  const refused = new Promise((resolve) => laud.liveComments("video:2", () => undefined, resolve));
  await laud.subjectset({ item: "video:2", mode: "closed" });
  assert.equal((await refused).code, "SUBJECT_CLOSED");
});
