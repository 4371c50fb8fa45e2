// A web team's view: fetch of Node, over keep-alive connections, many at once.
const base = process.argv[2];
const assert = require("node:assert");

async function call(method, path, body) {
  const options = { method };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers = { "Content-Type": "application/json" };
  }
  const response = await fetch(base + path, options);
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text ? JSON.parse(text) : null };
}

async function main() {
  const liked = await Promise.all(
    Array.from({ length: 50 }, (_, i) => call("PUT", `/v1/items/clip:1/reactions/like/${i + 1}`)));
  assert(liked.every((r) => r.status === 200 && r.json.changed));
  // A count is at least what the change made it, and the last of them saw all.
  const counts = liked.map((r) => r.json.count).sort((a, b) => a - b);
  assert(counts.every((count, i) => count >= i + 1 && count <= 50), String(counts));
  assert.deepStrictEqual((await call("GET", "/v1/items/clip:1/counts")).json,
    { item: "clip:1", counts: { like: 50 } });
  assert.deepStrictEqual((await call("PUT", "/v1/items/clip%3A1/reactions/like/1")).json,
    { changed: false, count: 50 });
  const big = "9007199254740993"; // would be rounded as a number
  assert((await call("PUT", `/v1/items/clip:${big}/reactions/like/${big}`)).json.changed);
  const feed = await call("POST", "/v1/feed", { user: big, items: [`clip:${big}`, "clip:1"] });
  assert.deepStrictEqual(feed.json.items.map((i) => i.reactions), [["like"], []]);
  assert.strictEqual(feed.json.items[0].item, `clip:${big}`);
  const users = [];
  let cursor = "";
  do {
    const page = await call("GET", `/v1/items/clip:1/reactions/like?limit=7&cursor=${cursor}`);
    assert.strictEqual(page.status, 200);
    users.push(...page.json.users.map((u) => Number(u.user)));
    cursor = page.json.cursor;
  } while (cursor !== null);
  assert.deepStrictEqual(users.sort((a, b) => a - b), Array.from({ length: 50 }, (_, i) => i + 1));
  const head = await call("HEAD", "/v1/items/clip:1/counts");
  assert.strictEqual(head.status, 200);
  assert.strictEqual(head.json, null);
  const wrong = await call("POST", "/v1/feed", { user: 1, items: [] });
  assert.strictEqual(wrong.status, 400);
  assert.strictEqual(wrong.json.error.code, "BAD_JSON");
  console.log("ok");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
