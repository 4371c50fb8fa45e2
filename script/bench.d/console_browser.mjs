// For console.py: opens the console of the server in argv[2] in Chromium, and measures. Each line of standard
// input is one task; the answer is a line of JSON.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const sdk = new URL("../../sdk/js/", import.meta.url);
const { chromium } = createRequire(new URL("package.json", sdk))("playwright-core");
const { Laud } = await import(new URL("dist/index.js", sdk).href);
const url = process.argv[2];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
let requests = 0;

/** A tab of a browser that has seen nothing yet. */
async function open(ready = () => document.querySelectorAll(".plot canvas").length > 0) {
  const page = await (await browser.newContext()).newPage();
  page.on("request", () => requests++);
  await page.goto(`${url}/`);
  await page.waitForFunction(ready);
  return page;
}

const tasks = {
  async tabs(count) {
    for (let i = 0; i < count; i++) await open();
    requests = 0;
    return count;
  },
  async asked() {
    return requests;
  },
  async paint() {
    const page = await open(() => performance.getEntriesByName("first-contentful-paint").length > 0);
    const time = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
    await page.context().close();
    return time;
  },
  async size() {
    const page = await open();
    const size = await page.evaluate(() =>
      [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
        .filter(({ name }) => name.endsWith("/") || name.includes("/console/"))
        .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
    );
    await page.context().close();
    return size;
  },
  async liked(count) {
    const laud = new Laud({ url, batch: false });
    const items = Array.from({ length: count }, (_, i) => `video:${i + 1}`);
    await Promise.all(items.filter((_, i) => i % 2 === 0).map((item) => laud.like({ user: "1", item })));
    const own = await laud.ownReactions("1", { everyMs: 0 });
    await own.sync();
    const measure = async (ask) => {
      const begun = performance.now();
      for (const item of items) await ask(item);
      return performance.now() - begun;
    };
    const local = await measure((item) => own.liked([item]));
    const asked = await measure((item) => laud.liked({ user: "1", items: [item] }));
    own.close();
    return [local, asked];
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...words] = line.split(" ");
  console.log(JSON.stringify(await tasks[name](...words.map(Number))));
}
await browser.close();
