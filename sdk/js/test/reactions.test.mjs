// Optimistic reactions: what a page shows before, after and instead of an answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Laud } from "../dist/index.js";
import { refused, scripted, startServer, until } from "./helper.mjs";

/** Requests wait until the test lets them go on. */
function gated(server, options = {}) {
  const gates = [];
  const wire = scripted((request, _, real) =>
    request.path === "/v1/feed" && !options.holdFeed
      ? undefined
      : request.path === "/v1/live"
        ? request.stream()
        : new Promise((resolve, reject) =>
            gates.push({
              request,
              pass: () => real().then(resolve, reject),
              refuse: (response) => resolve(response),
            }),
          ),
  );
  const laud = new Laud({ url: server.url, fetch: wire.fetch, retry: false });
  const next = async () => until(() => gates.shift(), "a request");
  return { laud, reactions: laud.reactionsOf("7", options), next, requests: wire.requests, waiting: gates };
}

const seen = (reactions, kind, item) => {
  const views = [];
  reactions.subscribe(kind, item, ({ set, count, pending }) =>
    views.push(`${set} ${count}${pending ? " …" : ""}`),
  );
  return views;
};

test("optimistic reactions", async (t) => {
  const server = await startServer(t, "--exclusive", "like,dislike");
  const others = new Laud({ url: server.url });

  await t.test("a like is shown at once and settled by the answer", async () => {
    await Promise.all(["1", "2"].map((user) => others.like({ user, item: "shown:1" })));
    const { reactions, next } = gated(server);
    await reactions.load(["shown:1"]);
    const views = seen(reactions, "like", "shown:1");
    const done = reactions.like("shown:1");
    assert.deepEqual(views, ["false 2", "true 3 …"]);
    await others.like({ user: "3", item: "shown:1" });
    await (await next()).pass();
    assert.deepEqual(await done, { set: true, count: 4, pending: false, error: undefined });
    assert.deepEqual(views.at(-1), "true 4");
  });

  await t.test("a refusal rolls back", async () => {
    await others.like({ user: "1", item: "back:1" });
    const { reactions, next } = gated(server);
    await reactions.load(["back:1"]);
    const views = seen(reactions, "like", "back:1");
    const done = assert.rejects(reactions.like("back:1"), {
      code: "NO_PERMISSION",
      status: 403,
      uncertain: false,
    });
    (await next()).refuse(refused(403, "NO_PERMISSION"));
    await done;
    assert.deepEqual(views, ["false 1", "true 2 …", "false 1"]);
    assert.equal(reactions.view("like", "back:1").error.code, "NO_PERMISSION");
    const again = reactions.like("back:1");
    assert.equal(reactions.view("like", "back:1").error, undefined);
    await (await next()).pass();
    assert.equal((await again).count, 2);
  });

  await t.test("the last call wins, and what it replaces is not sent", async () => {
    const { reactions, next, requests } = gated(server);
    await reactions.load(["last:1"]);
    const calls = [
      reactions.like("last:1"),
      reactions.unlike("last:1"),
      reactions.like("last:1"),
      reactions.unlike("last:1"),
    ];
    assert.deepEqual(reactions.view("like", "last:1"), {
      set: false,
      count: 0,
      pending: true,
      error: undefined,
    });
    await (await next()).pass();
    await (await next()).pass();
    const views = await Promise.all(calls);
    assert.ok(views.every(({ set, count }) => set === false && count === 0));
    assert.deepEqual(
      requests.slice(1).map(({ method }) => method),
      ["PUT", "DELETE"],
    );
    assert.deepEqual((await others.counts({ item: "last:1" })).counts, {});
  });

  await t.test("a later call is sent although the one before it failed", async () => {
    const { reactions, next } = gated(server);
    await reactions.load(["later:1"]);
    const views = seen(reactions, "like", "later:1");
    const like = reactions.like("later:1");
    const unlike = reactions.unlike("later:1");
    (await next()).refuse(refused(500, "IO_FAILED"));
    await (await next()).pass();
    await Promise.all([like, unlike]);
    assert.deepEqual(views, ["false 0", "true 1 …", "false 0 …", "false 0"]);
  });

  await t.test("exclusive kinds clear each other, and are sent in order", async () => {
    const { reactions, next, waiting } = gated(server, { exclusive: [["like", "dislike"]] });
    await reactions.load(["excl:1"], ["like", "dislike"]);
    const likes = seen(reactions, "like", "excl:1");
    const dislikes = seen(reactions, "dislike", "excl:1");
    const like = reactions.like("excl:1");
    const dislike = reactions.set("dislike", "excl:1", true);
    assert.deepEqual([likes.at(-1), dislikes.at(-1)], ["false 0 …", "true 1 …"]);
    const first = await next();
    assert.match(first.request.path, /like\/7$/);
    assert.equal(waiting.length, 0, "the second waits for the first");
    await first.pass();
    await (await next()).pass();
    await Promise.all([like, dislike]);
    assert.deepEqual([likes.at(-1), dislikes.at(-1)], ["false 0", "true 1"]);
    assert.deepEqual((await others.counts({ item: "excl:1" })).counts, { dislike: 1 });
    const back = reactions.like("excl:1");
    assert.deepEqual([likes.at(-1), dislikes.at(-1)], ["true 1 …", "false 0"]);
    (await next()).refuse(refused(403, "NO_PERMISSION"));
    await assert.rejects(back, { code: "NO_PERMISSION" });
    assert.deepEqual([likes.at(-1), dislikes.at(-1)], ["false 0", "true 1"]);
  });

  await t.test("live counts of others arrive, and not in the middle of a call", async () => {
    const { reactions } = gated(server);
    const open = new Laud({ url: server.url });
    const live = open.reactionsOf("8");
    t.after(() => open.close());
    await live.load(["live:1"]);
    const views = seen(live, "like", "live:1");
    live.watch(["live:1"]);
    await others.like({ user: "1", item: "live:1" });
    await until(() => views.at(-1) === "false 1", "the like of another user");
    assert.equal((await live.like("live:1")).set, true);
    await until(() => views.at(-1) === "true 2", "both likes");
    live.close();
    reactions.close();
  });

  await t.test("a live count does not count a like twice that is under way", async () => {
    const { laud, reactions, next } = gated(server);
    await reactions.load(["twice:1"]);
    const views = seen(reactions, "like", "twice:1");
    const events = [];
    reactions.watch(["twice:1"]);
    laud.live(["twice:1"], (_, counts) => events.push(counts.like ?? 0));
    await until(() => events.length > 0, "the stream");
    const done = reactions.like("twice:1");
    const request = await next();
    await others.like({ user: "1", item: "twice:1" });
    await until(() => events.includes(1), "the like of another user");
    assert.deepEqual(reactions.view("like", "twice:1"), {
      set: true,
      count: 1,
      pending: true,
      error: undefined,
    });
    await request.pass();
    await done;
    await until(() => views.at(-1) === "true 2", "both likes");
    laud.close();
  });

  await t.test("a page of the feed that was asked for before a call does not undo it", async () => {
    const { reactions, next } = gated(server, { holdFeed: true });
    const loaded = reactions.load(["late:1"]);
    const feed = await next();
    const answer = await (
      await fetch(`${server.url}/v1/feed`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(feed.request.body),
      })
    ).text();
    const done = reactions.like("late:1");
    await (await next()).pass();
    await done;
    feed.refuse(new Response(answer)); // it says that nothing is set
    await loaded;
    assert.equal(reactions.view("like", "late:1").set, true);
  });

  await t.test("the number of states is bounded", async () => {
    const reactions = others.reactionsOf("9", { most: 3 });
    const stop = [1, 2, 3].map((i) => reactions.subscribe("like", `many:${i}`, () => undefined));
    assert.throws(() => reactions.subscribe("like", "many:4", () => undefined), { code: "TOO_MANY_ITEMS" });
    stop[0]();
    reactions.subscribe("like", "many:4", () => undefined);
  });
});
