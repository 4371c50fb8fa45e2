// The local copy of a user's reactions, in Node: rounds, STARTOVER, limits, several users of one store.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Laud, MemoryStore } from "../dist/index.js";
import { scripted, startServer, until } from "./helper.mjs";

const likes = (laud, user, items) => Promise.all(items.map((item) => laud.like({ user, item })));
const numbered = (type, count) => Array.from({ length: count }, (_, i) => `${type}:${i + 1}`);
const isChanges = ({ path }) => path.endsWith("/changes");

test("the local copy", async (t) => {
  const server = await startServer(t, "--exclusive", "like,dislike");
  const make = (script) => {
    const wire = scripted(script);
    return { laud: new Laud({ url: server.url, fetch: wire.fetch }), requests: wire.requests };
  };
  const direct = new Laud({ url: server.url });

  await t.test("it answers without a request, page by page and round by round", async () => {
    const { laud, requests } = make();
    await likes(direct, "1", numbered("own", 25));
    const own = await laud.ownReactions("1", { everyMs: 0, page: 10 });
    assert.equal(own.has("like", "own:1"), undefined, "before the first round");
    assert.deepEqual(await own.liked(["own:1", "own:99"]), [true, false], "the server is asked");
    await own.sync();
    assert.deepEqual([own.size, own.complete, requests.filter(isChanges).length], [25, true, 3]);
    const before = requests.length;
    assert.deepEqual(await own.liked(["own:7", "own:99"]), [true, false]);
    assert.deepEqual([own.has("like", "own:1"), own.has("favorite", "own:1")], [true, false]);
    assert.equal(requests.length, before);
    await direct.unlike({ user: "1", item: "own:3" });
    await direct.like({ user: "1", item: "own:26" });
    const heard = [];
    own.subscribe((changes) => heard.push(...changes));
    await own.sync();
    assert.deepEqual(await own.liked(["own:3", "own:26"]), [false, true]);
    assert.ok(heard.some(({ item, set }) => item === "own:3" && !set));
    own.close();
    await assert.rejects(own.sync(), { code: "CLOSED" });
  });

  await t.test("it syncs by itself", async () => {
    await direct.like({ user: "2", item: "auto:1" });
    const own = await direct.ownReactions("2", { everyMs: 20 });
    await until(() => own.has("like", "auto:1"), "the first round");
    await direct.like({ user: "2", item: "auto:2" });
    await until(() => own.has("like", "auto:2"), "a later round");
    own.close();
  });

  await t.test("what this client has set is there at once, and a page under way does not undo it", async () => {
    let hold;
    const { laud } = make(async (request, _, real) => {
      if (!isChanges(request) || hold === undefined) return undefined;
      const response = await real();
      await hold;
      return response;
    });
    await direct.like({ user: "3", item: "race:1" });
    const own = await laud.ownReactions("3", { everyMs: 0 });
    await own.sync();
    const reactions = laud.reactionsOf("3", { own });
    assert.equal(reactions.view("like", "race:1").set, true);
    await direct.unlike({ user: "3", item: "race:1" });
    let release;
    let reached;
    const asked = new Promise((resolve) => {
      reached = resolve;
    });
    hold = {
      then: (resolve) => {
        release = resolve;
        reached();
      },
    };
    const round = own.sync();
    await asked; // the page says that race:1 is cleared, and race:2 was never set
    await Promise.all([reactions.like("race:1"), reactions.like("race:2")]);
    assert.deepEqual(await own.liked(["race:1", "race:2"]), [true, true]);
    hold = undefined;
    release();
    await round;
    assert.deepEqual(await own.liked(["race:1", "race:2"]), [true, true]);
    await own.sync();
    assert.deepEqual(await own.liked(["race:1", "race:2"]), [true, true]);
    own.close();
  });

  await t.test("a cursor that is not of this server begins anew", async () => {
    await direct.like({ user: "4", item: "cursor:1" });
    const store = new MemoryStore();
    const record = { session: "s", cursor: "00", complete: true, dropped: false, synced: 0 };
    await store.load("4", record);
    await store.write("4", "s", { changes: [{ kind: "like", item: "cursor:2", time: 1, set: true }] });
    const own = await direct.ownReactions("4", { everyMs: 0, store });
    const heard = [];
    own.subscribe((changes) => heard.push(...changes.map(({ item, set }) => `${item} ${set}`)));
    assert.equal(own.has("like", "cursor:2"), true);
    await own.sync();
    assert.deepEqual(await own.liked(["cursor:1", "cursor:2"]), [true, false]);
    assert.deepEqual(heard.sort(), ["cursor:1 true", "cursor:2 false"]);
  });

  await t.test("two users of one store share rounds, and a logout reaches both", async () => {
    const { laud, requests } = make();
    await likes(direct, "5", numbered("tab", 3));
    const store = new MemoryStore();
    const first = await laud.ownReactions("5", { everyMs: 0, store });
    const second = await laud.ownReactions("5", { everyMs: 0, store });
    await Promise.all([first.sync(), second.sync()]);
    assert.deepEqual([first.size, second.size], [3, 3]);
    const cursors = requests.filter(isChanges).map(({ query }) => query.get("since"));
    assert.equal(cursors[0], null);
    assert.ok(cursors[1], "the second went on where the first had ended");
    await first.acknowledge("like", "tab:9", true);
    assert.equal(second.has("like", "tab:9"), true);
    const other = await laud.ownReactions("6", { everyMs: 0, store });
    await other.sync();
    await first.logout();
    assert.deepEqual([first.size, second.size, second.has("like", "tab:1")], [0, 0, undefined]);
    assert.equal(await store.record("5"), undefined);
    assert.equal((await store.record("6")).complete, true, "another user is not touched");
    await assert.rejects(second.sync(), { code: "CLOSED" });
  });

  await t.test("a tab that has not heard of a logout cannot write the data again", async () => {
    await direct.like({ user: "7", item: "deaf:1" });
    const store = new MemoryStore();
    const deaf = await direct.ownReactions("7", { everyMs: 0, store });
    await store.remove("7"); // as a logout in a tab whose message was lost
    await deaf.sync();
    assert.deepEqual([deaf.size, await store.record("7")], [0, undefined]);
    await deaf.acknowledge("like", "deaf:2", true);
    assert.equal(await store.record("7"), undefined);
  });

  await t.test("nor into the data of the next login", async () => {
    const store = new MemoryStore();
    const deaf = await direct.ownReactions("11", { everyMs: 0, store });
    await store.remove("11");
    const again = await direct.ownReactions("11", { everyMs: 0, store });
    await again.sync();
    await deaf.acknowledge("like", "deaf:1", true);
    assert.equal(again.has("like", "deaf:1"), false);
    await deaf.sync();
    assert.deepEqual([deaf.complete, again.complete], [false, true]);
    const reopened = await direct.ownReactions("11", { everyMs: 0, store });
    assert.deepEqual([reopened.complete, reopened.size], [true, 0]);
  });

  await t.test("what another tab writes while the store is read is not lost", async () => {
    const store = new MemoryStore();
    const first = await direct.ownReactions("12", { everyMs: 0, store });
    await first.sync();
    const { load } = MemoryStore.prototype;
    let release;
    store.load = async (...args) => {
      const snapshot = await load.apply(store, args);
      await new Promise((resolve) => {
        release = resolve;
      });
      return snapshot;
    };
    const opening = direct.ownReactions("12", { everyMs: 0, store });
    await until(() => release, "the store was read");
    await first.acknowledge("like", "early:1", true);
    release();
    assert.equal((await opening).has("like", "early:1"), true);
  });

  await t.test("a store that fails does not make the answers wrong", async () => {
    const store = new MemoryStore();
    const own = await direct.ownReactions("13", { everyMs: 0, store });
    await own.sync();
    const { write } = MemoryStore.prototype;
    store.write = async () => {
      throw new Error("the disk is full");
    };
    const reactions = direct.reactionsOf("13", { own });
    await reactions.like("full:1");
    assert.equal(own.has("like", "full:1"), true);
    await direct.like({ user: "13", item: "full:2" });
    await assert.rejects(own.sync(), /the disk is full/);
    assert.equal(own.has("like", "full:2"), true);
    store.write = write;
    await own.sync();
    const reopened = await direct.ownReactions("13", { everyMs: 0, store });
    assert.deepEqual([reopened.complete, reopened.size], [true, 2]);
  });

  await t.test("it is bounded: the oldest are dropped, and asked for", async () => {
    const { laud, requests } = make();
    await likes(direct, "8", numbered("much", 50));
    const own = await laud.ownReactions("8", { everyMs: 0, most: 20, page: 7 });
    await own.sync();
    assert.ok(own.size <= 20 && own.size >= 10, String(own.size));
    assert.equal(own.complete, false);
    const before = requests.length;
    assert.deepEqual(await own.liked([...numbered("much", 50), "much:99"]), [...Array(50).fill(true), false]);
    assert.equal(requests.length, before + 1, "one batch for those that were dropped");
    own.close();
  });

  await t.test("an exclusive kind that was cleared is cleared in the copy too", async () => {
    const own = await direct.ownReactions("10", { everyMs: 0 });
    await own.sync();
    const reactions = direct.reactionsOf("10", { own, exclusive: [["like", "dislike"]] });
    await reactions.like("pair:1");
    await reactions.set("dislike", "pair:1", true);
    assert.deepEqual([own.has("like", "pair:1"), own.has("dislike", "pair:1")], [false, true]);
    await own.sync();
    assert.deepEqual([own.has("like", "pair:1"), own.has("dislike", "pair:1")], [false, true]);
    own.close();
  });
});

test("STARTOVER: the copy is made anew", async (t) => {
  const server = await startServer(t, "--changes-ttl", "1s");
  const laud = new Laud({ url: server.url });
  await laud.like({ user: "1", item: "old:1" });
  await laud.like({ user: "1", item: "old:2" });
  const own = await laud.ownReactions("1", { everyMs: 0, page: 1 });
  await own.sync();
  const { cursor } = await laud.changes({ user: "1" });
  await laud.unlike({ user: "1", item: "old:2" });
  const heard = [];
  own.subscribe((changes) => heard.push(...changes.map(({ item, set }) => `${item} ${set}`)));
  // Old is what the recorded times of changes say, so it needs changes.
  await until(async () => {
    await laud.like({ user: "1", item: "old:3" });
    await laud.unlike({ user: "1", item: "old:3" });
    return laud.changes({ user: "1", since: cursor }).then(
      () => false,
      (error) => error.status === 410,
    );
  }, "the cursor is too old");
  await own.sync();
  assert.deepEqual(await own.liked(["old:1", "old:2", "old:3"]), [true, false, false]);
  assert.deepEqual([own.complete, own.size], [true, 1]);
  assert.ok(!heard.includes("old:1 false"), "what is still set was never shown as cleared");
  assert.ok(heard.includes("old:2 false"));
});
