// Every operation against a real server: alone, and in batches.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Laud, LaudError, operations } from "../dist/index.js";
import { Server, refused, scripted, startServer } from "./helper.mjs";

// A server for all tests that use items of their own.
const shared = new Server().start();
after(async () => (await shared).stop());

/** Calls every operation about comments once. */
async function callComments(run) {
  const posted = await run.comment({ user: "11", item: "video:9", text: "A \"text\", 你好\n", token: "one", mentions: ["13"], extra: { at: [1, null] } });
  assert.deepEqual([posted.floor, posted.state], [1, "visible"]);
  const { comment } = posted;
  assert.deepEqual(await run.comment({ user: "11", item: "video:9", text: "again", token: "one" }), posted);
  const reply = await run.comment({ user: "12", item: comment, text: "A reply", mentions: [] });
  assert.deepEqual(await run.edit({ user: "12", comment: reply.comment, text: "An edited reply" }), { changed: true });
  const page = await run.comments({ item: "video:9", by: "new", for: "11", replies: 1, limit: 5, all: true });
  assert.deepEqual(
    page.comments.map(({ user, text, extra, replies }) => [user, text, extra, replies.map((one) => one.text)]),
    [["11", 'A "text", 你好\n', { at: [1, null] }, ["An edited reply"]]],
  );
  assert.deepEqual(
    (await run.comments({ item: "video:9", at: reply.comment, all: false })).comments.map((one) => one.comment),
    [comment],
  );
  const { cards } = await run.cards({ comments: [reply.comment, "comment:1"], for: "12" });
  assert.deepEqual(cards.map((card) => card?.reply_to), [{ comment, user: "11" }, undefined]);
  assert.deepEqual((await run.written({ user: "11", limit: 5 })).cards.map((card) => card.comment), [comment]);
  const { entries, unread } = await run.inbox({ user: "11" });
  assert.deepEqual([unread, entries.map(({ kind, by }) => [kind, by])], [1, [["reply", "12"]]]);
  assert.deepEqual(await run.seen({ user: "11", cursor: entries[0].cursor }), { changed: true });
  assert.deepEqual((await run.inbox({ user: "13" })).entries.map(({ kind }) => kind), ["mention"]);
  assert.deepEqual(
    (await run.history({ comment: reply.comment })).versions.map(({ text }) => text),
    ["An edited reply", "A reply"],
  );
  assert.deepEqual(await run.pin({ comment }), { changed: true });
  assert.deepEqual(await run.subjectset({ item: "video:9", owner: "5", mode: "held" }), { changed: true });
  const { owner, mode, pinned } = await run.subject({ item: "video:9" });
  assert.deepEqual([owner, mode, pinned.length], ["5", "held", 1]);
  assert.deepEqual(await run.unpin({ comment }), { changed: true });
  assert.deepEqual(await run.moderate({ comment: reply.comment, state: "hidden", reason: "a test" }), { changed: true });
  const queued = await run.queue({ type: "video", state: "hidden" });
  assert.deepEqual(queued.cards.map((card) => card.comment), [reply.comment]);
  assert.deepEqual(await run.ban({ user: "14", until: 4_000_000_000, shadow: true }), { changed: true });
  assert.deepEqual(await run.unban({ user: "14" }), { changed: true });
  assert.deepEqual(await run.uncomment({ user: "11", comment }), { changed: true });
  assert.deepEqual(await run.purge({ comment: reply.comment }), { changed: true });
}

/** Calls every operation once; the answers are the same however they are sent. */
async function callAll(laud, options, called) {
  const run = new Proxy(laud, {
    get:
      (target, name) =>
      (...args) => {
        called.add(name);
        return target[name](...args, options);
      },
  });
  const set = await run.react({ user: "1", kind: "favorite", item: "video:1" });
  assert.equal(set.changed, true);
  assert.equal((await run.like({ user: "1", item: "video:1" })).changed, true);
  assert.equal((await run.like({ user: "1", item: "video:1" })).changed, false);
  assert.equal((await run.like({ user: "2", item: "video:1" })).changed, true);
  assert.equal((await run.react({ user: "1", kind: "follow", item: "user:2" })).changed, true);
  assert.deepEqual(await run.reacted({ user: "1", kind: "like", item: "video:1" }), { set: true });
  assert.deepEqual(await run.liked({ user: "1", items: ["video:1", "video:2"] }), { set: [true, false] });
  assert.deepEqual(await run.add({ item: "video:1", counter: "view", delta: 5 }), { value: 5 });
  assert.deepEqual(await run.add({ item: "video:1", counter: "view", delta: "2", token: "t" }), { value: 7 });
  const counts = { like: 2, favorite: 1, view: 7 };
  assert.deepEqual(await run.counts({ item: "video:1" }), { item: "video:1", counts });
  assert.deepEqual(
    (await run.postCounts({ items: ["video:1", "video:2"] })).items.map((row) => row.counts),
    [counts, {}],
  );
  const [row] = (await run.feed({ user: "1", items: ["video:1"], cold: "ask" })).items;
  assert.deepEqual(
    [row.item, new Set(row.reactions), row.counts],
    ["video:1", new Set(["like", "favorite"]), counts],
  );
  assert.deepEqual(
    (await run.likes({ user: "1", type: "video" })).items.map(({ item }) => item),
    ["video:1"],
  );
  assert.deepEqual(
    (await run.reactions({ user: "1", kind: "follow", type: "user", limit: 3 })).items.map(({ item }) => item),
    ["user:2"],
  );
  const page = await run.likers({ item: "video:1", limit: 1 });
  const next = await run.reactors({ item: "video:1", kind: "like", limit: 5, cursor: page.cursor });
  assert.deepEqual([...page.users, ...next.users].map(({ user }) => user).sort(), ["1", "2"]);
  assert.equal(next.cursor, null);
  assert.deepEqual(
    (await run.friends({ among: "1", item: "video:1" })).users.map(({ user }) => user),
    ["2"],
  );
  assert.deepEqual(
    (await run.friends({ among: "1", item: "video:1", depth: 2 })).users.map(({ user, via }) => [user, via]),
    [["2", null]],
  );
  assert.deepEqual(
    (await run.feed({ user: "1", items: ["video:1"], friends: 3 })).items.map(({ friends }) => friends),
    [{ count: 1, users: ["2"] }],
  );
  assert.deepEqual((await run.top({ type: "video", counter: "view", limit: 3 })).items, [
    { item: "video:1", value: 7 },
  ]);
  await callComments(run);
  const changes = await run.changes({ user: "1", limit: 100 });
  assert.deepEqual(changes.changes.map(({ kind }) => kind).sort(), ["favorite", "follow", "like"]);
  assert.deepEqual((await run.changes({ user: "1", since: changes.cursor })).more, false);
  assert.ok((await run.names()).names.some(({ name }) => name === "favorite"));
  assert.equal((await run.unlike({ user: "2", item: "video:1" })).changed, true);
  assert.equal((await run.unreact({ user: "1", kind: "follow", item: "user:2" })).changed, true);
  assert.deepEqual(await run.forget({ user: "1" }), { removed: 2, more: false });
  assert.deepEqual(await run.drop({ item: "video:1", limit: 10 }), { removed: 1, more: false });
}

test("every operation by its own route", async (t) => {
  const server = await startServer(t);
  const called = new Set();
  await callAll(new Laud({ url: server.url, batch: false }), undefined, called);
  assert.deepEqual([...called].sort(), Object.keys(operations).sort(), "calls that this test does not make");
});

test("every operation in a batch gives the same answers", async (t) => {
  const server = await startServer(t);
  const wire = scripted();
  const laud = new Laud({ url: `${server.url}/`, fetch: wire.fetch });
  // Each call has company in its tick, so that it is sent in a batch.
  const company = new Proxy(laud, {
    get: (target, name) =>
      typeof target[name] !== "function"
        ? target[name]
        : async (...args) => {
            const [answer] = await Promise.all([target[name](...args), target.counts({ item: "other:1" })]);
            return answer;
          },
  });
  await callAll(company, undefined, new Set());
  assert.ok(wire.requests.every(({ path }) => path === "/v1/batch"));
});

test("calls of one tick are one request, within the limits of the server", async () => {
  const server = await shared;
  const wire = scripted();
  const laud = new Laud({ url: server.url, fetch: wire.fetch });
  const answers = await Promise.all(
    Array.from({ length: 450 }, (_, i) => laud.like({ user: String(i + 1), item: "tick:1" })),
  );
  assert.ok(answers.every(({ changed }) => changed));
  assert.deepEqual(
    wire.requests.map(({ body }) => body.operations.length),
    [200, 200, 50],
  );
  assert.equal((await laud.counts({ item: "tick:1" })).counts.like, 450);
  const small = new Laud({ url: server.url, fetch: wire.fetch, batch: { words: 8 } });
  await Promise.all(Array.from({ length: 5 }, () => small.counts({ item: "tick:1" }))); // two words each
  assert.deepEqual(
    wire.requests.slice(-2).map(({ path }) => path),
    ["/v1/batch", "/v1/items/tick:1/counts"],
  );
  const items = Array.from({ length: 1000 }, (_, i) => `tick:${i}`);
  await Promise.all(Array.from({ length: 25 }, () => laud.postCounts({ items })));
  assert.ok(wire.requests.slice(-3).every(({ body }) => JSON.stringify(body).length < 256 * 1024));
});

test("each operation of a batch has its own error", async () => {
  const server = await shared;
  const laud = new Laud({ url: server.url });
  const results = await Promise.allSettled([
    laud.like({ user: "1", item: "each:1" }),
    laud.like({ user: "nobody", item: "each:1" }),
    laud.add({ item: "each:1", counter: "like", delta: 1 }),
    laud.liked({ user: "1", items: ["each:1"] }),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["fulfilled", "rejected", "rejected", "fulfilled"],
  );
  const [, user, counter] = results.map(({ reason }) => reason);
  assert.ok(user instanceof LaudError && counter instanceof LaudError);
  assert.deepEqual(
    [user.code, user.status, counter.code, counter.status],
    ["BAD_ARGUMENT", 400, "NOT_A_COUNTER", 422],
  );
  assert.match(user.message, /nobody/);
  assert.deepEqual(results[3].value, { set: [true] });
});

test("a call alone in its tick gets its own route, and so does everything without batches", async () => {
  const server = await shared;
  const wire = scripted();
  const laud = new Laud({ url: server.url, fetch: wire.fetch });
  assert.deepEqual(await laud.like({ user: "1", item: "alone:1" }), { changed: true, count: 1 });
  const off = new Laud({ url: server.url, fetch: wire.fetch, batch: false });
  await Promise.all([off.like({ user: "2", item: "alone:1" }), off.unlike({ user: "1", item: "alone:1" })]);
  await Promise.all([
    laud.like({ user: "3", item: "alone:1" }, { batch: false }),
    laud.like({ user: "4", item: "alone:1" }, { batch: false }),
  ]);
  assert.deepEqual(
    wire.requests.map(({ method }) => method),
    ["PUT", "PUT", "DELETE", "PUT", "PUT"],
  );
});

test("a result that does not fit into a batch is asked for alone", async () => {
  const server = await shared;
  const wire = scripted(async ({ path }, _, real) => {
    if (path !== "/v1/batch") return undefined;
    const answer = await (await real()).json();
    answer.results[0] = { error: { code: "ANSWER_TOO_LARGE", message: "it does not fit" } };
    return new Response(JSON.stringify(answer));
  });
  const laud = new Laud({ url: server.url, fetch: wire.fetch });
  await laud.like({ user: "1", item: "large:1" });
  const [first, second] = await Promise.all([
    laud.counts({ item: "large:1" }),
    laud.counts({ item: "large:2" }),
  ]);
  assert.deepEqual([first.counts, second.counts], [{ like: 1 }, {}]);
  assert.deepEqual(
    wire.requests.map(({ path }) => path),
    ["/v1/items/large:1/reactions/like/1", "/v1/batch", "/v1/items/large:1/counts"],
  );
});

test("an error says what the server says, and a proxy's page does no harm", async () => {
  const server = await shared;
  const laud = new Laud({ url: server.url, batch: false });
  await assert.rejects(laud.top({ type: "Video", counter: "like" }), (error) => {
    assert.ok(error instanceof LaudError && error instanceof Error);
    assert.deepEqual(
      [error.name, error.code, error.status, error.retryAfter],
      ["LaudError", "BAD_ARGUMENT", 400, undefined],
    );
    assert.match(error.message, /Video/);
    return true;
  });
  const page = async (response) =>
    new Laud({ url: server.url, fetch: async () => response, retry: false, batch: false }).names();
  await assert.rejects(page(new Response("<h1>no</h1>", { status: 418 })), { code: "HTTP_418", status: 418 });
  await assert.rejects(page(new Response("<h1>welcome</h1>")), { code: "BAD_ANSWER", status: 0 });
  await assert.rejects(page(refused(429, "LIMITED", 7)), { code: "LIMITED", status: 429, retryAfter: 7 });
});

test("the token, the device and further headers are sent", async () => {
  const server = await shared;
  const wire = scripted();
  let number = 0;
  const laud = new Laud({
    url: server.url,
    fetch: wire.fetch,
    token: async () => `token-${++number}`,
    device: "phone",
    headers: { "X-Trace": "1" },
  });
  await laud.names();
  await laud.names();
  assert.deepEqual(
    wire.requests.map(({ headers }) => headers),
    [1, 2].map((n) => ({ "X-Trace": "1", Authorization: `Bearer token-${n}`, "X-Device-Id": "phone" })),
  );
});

test("an argument that would make another path of it is refused and not sent", async () => {
  const wire = scripted();
  const laud = new Laud({ url: "http://127.0.0.1:1", fetch: wire.fetch, batch: false });
  for (const item of ["..", ".", "", "video:1/reactions", "video:1?x", "video:1#", "vidéo:1", "%2e%2e"]) {
    await assert.rejects(laud.drop({ item }), { code: "BAD_ARGUMENT", status: 400 });
  }
  assert.deepEqual(wire.requests, []);
});
