// A web page's view: what an EventSource does, made of fetch. It reads, loses its connection, and goes on.
const base = process.argv[2];
const assert = require("node:assert");

class Source {
  constructor(path) {
    this.path = path;
    this.counts = {};
    this.last = "";
    this.events = 0;
  }

  // Reads events until the page has what it waits for; then the connection is dropped.
  async read(done) {
    const headers = this.last ? { "Last-Event-ID": this.last } : {};
    const response = await fetch(base + this.path, { headers });
    assert.strictEqual(response.status, 200);
    assert.strictEqual(response.headers.get("content-type"), "text/event-stream");
    let text = "";
    const decoder = new TextDecoder();
    for await (const part of response.body) {
      text += decoder.decode(part, { stream: true });
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        this.take(text.slice(0, end));
        text = text.slice(end + 2);
        if (done()) return; // and the body is cancelled
      }
    }
    assert.fail("the stream ended");
  }

  take(block) {
    const fields = {};
    for (const line of block.split("\n")) {
      const colon = line.indexOf(":");
      if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
    }
    this.heard = fields;
    if (!fields.data) return;
    assert.strictEqual(fields.event, "counts");
    this.last = fields.id;
    this.events++;
    Object.assign(this.counts, JSON.parse(fields.data).items);
  }
}

async function like(item, users) {
  for (const user of users) {
    const response = await fetch(`${base}/v1/items/${item}/reactions/like/${user}`, { method: "PUT" });
    assert.strictEqual(response.status, 200);
    await response.text();
  }
}

async function main() {
  const source = new Source("/v1/live?items=js:1,js:2");
  await like("js:1", [1]);
  await source.read(() => source.events === 1);
  assert.deepStrictEqual(source.counts, { "js:1": { like: 1 }, "js:2": {} });
  await Promise.all([
    source.read(() => source.counts["js:1"].like === 50 && source.counts["js:2"].like === 20),
    like("js:1", Array.from({ length: 49 }, (_, i) => i + 2)),
    like("js:2", Array.from({ length: 20 }, (_, i) => i + 1)),
  ]);
  const before = source.events;
  let blocks = 0;
  await source.read(() => ++blocks === 2); // when to come back, and that nothing is new
  assert.strictEqual(source.events, before);
  await like("js:2", [99]);
  await source.read(() => source.events > before);
  assert.deepStrictEqual(source.counts, { "js:1": { like: 50 }, "js:2": { like: 21 } });
  console.log("ok");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
