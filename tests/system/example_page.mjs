// examples/feed.html in Chromium, against the server in argv[2]: what two users see who have it open.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";

const root = new URL("../../", import.meta.url);
const { chromium } = createRequire(new URL("sdk/js/package.json", root))("playwright-core");
const laud = process.argv[2];

const site = createServer(async (request, response) => {
  const path = new URL(request.url, "http://site").pathname.slice(1);
  const known = /^(examples\/feed\.html|sdk\/js\/dist\/\w+\.js)$/.test(path);
  response.setHeader("Content-Type", path.endsWith(".js") ? "text/javascript" : "text/html");
  response.statusCode = known ? 200 : 404;
  response.end(known ? await readFile(new URL(path, root)) : "");
});
await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${site.address().port}/examples/feed.html?laud=${encodeURIComponent(laud)}`;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  const problems = [];
  const open = async (user) => {
    const page = await (await browser.newContext()).newPage();
    page.on("pageerror", (error) => problems.push(String(error)));
    await page.goto(`${address}&user=${user}`);
    page.shows = (text) =>
      page
        .waitForFunction((wanted) => document.querySelector("li button")?.textContent === wanted, text)
        .catch((error) => {
          throw new Error(`user ${user} should see ${text}: ${error.message}`);
        });
    return page;
  };
  const [one, two] = await Promise.all([open("1"), open("2")]);
  await Promise.all([one.shows("♡ 0"), two.shows("♡ 0")]);
  await one.click("li button");
  await Promise.all([one.shows("♥ 1"), two.shows("♡ 1")]);
  await two.click("li button");
  await Promise.all([one.shows("♥ 2"), two.shows("♥ 2")]);
  await one.reload();
  await one.shows("♥ 2");
  await one.click("li button");
  await Promise.all([one.shows("♡ 1"), two.shows("♥ 1")]);
  await two.route("**/reactions/**", (route) =>
    route.fulfill({
      status: 403,
      contentType: "application/json",
      headers: { "Access-Control-Allow-Origin": "*" },
      body: '{"error":{"code":"NO_PERMISSION","message":"you are banned"}}',
    }),
  );
  await two.click("li button");
  await two.waitForFunction(() => document.querySelector("#problem").textContent === "you are banned");
  await two.shows("♥ 1");
  assert.deepEqual(problems, []);
} finally {
  await browser.close();
  site.closeAllConnections();
  site.close();
}
