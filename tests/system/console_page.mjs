// The console in Chromium, for test_console: node console_page.mjs SCENARIO URL [ADMIN_TOKEN READ_TOKEN].
// With SCREENSHOTS, a picture of every page is written to that directory.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";

const root = new URL("../../", import.meta.url);
const { chromium } = createRequire(new URL("sdk/js/package.json", root))("playwright-core");
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [, , scenario, url, admin, reader] = process.argv;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu"],
});

const DESKTOP = { viewport: { width: 1280, height: 900 }, colorScheme: "light" };
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: "dark", hasTouch: true };
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/** A tab that remembers what went wrong in it. `refusals`: the test makes the server refuse requests. */
async function open(options = DESKTOP, { refusals = false, context } = {}) {
  const page = await (context ?? (await browser.newContext(options))).newPage();
  page.problems = [];
  page.asked = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => {
    const expected = refusals && message.text().startsWith("Failed to load resource");
    if (["error", "warning"].includes(message.type()) && !expected) page.problems.push(message.text());
  });
  page.on("request", (one) => page.asked.push(one.url()));
  page.says = (text) =>
    page
      .waitForFunction((wanted) => document.body.innerText.includes(wanted), text)
      .catch(async (error) => {
        throw new Error(`should see "${text}": ${error.message}\n${await page.evaluate(() => document.body.innerText)}`);
      });
  page.finish = async (origin = url) => {
    assert.deepEqual(page.problems, []);
    const host = new URL(origin).host;
    assert.deepEqual(page.asked.filter((one) => new URL(one).host !== host), []);
    await page.close();
  };
  return page;
}

/** Nothing serious for those who use a screen reader or a keyboard, and nothing wider than the screen. */
async function examine(page, what) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const found = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  assert.deepEqual(found, [], what);
  const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= screen, `${what} is ${wide} pixels wide on a screen of ${screen}`);
  if (process.env.SCREENSHOTS)
    await page.screenshot({ path: join(process.env.SCREENSHOTS, `${what.replaceAll(/[^\w-]+/g, "_")}.png`), fullPage: true });
}

/** Every page, with a text that it shows only when it is complete, in English and in Chinese. */
const PAGES = [
  ["", "Hottest items now", "当前最热条目"],
  ["boards/video/like/all", "video by like, all time", "video 按 like，全部"],
  ["boards/video/view/day", "video by view, last day", "video 按 view，最近一天"],
  ["lookup", "Look up an item", "查询条目"],
  ["items/video:1", "The first comment, 第一条评论", "The first comment, 第一条评论"],
  ["users/1", "Ban this user from commenting", "禁止此用户评论"],
  ["moderation/video/pending", "Waits for a moderator", "Waits for a moderator"],
  ["server", "Slow operations", "慢操作"],
  ["nothing", "There is no such page.", "没有此页面。"],
];

async function overviewIsDrawn(page) {
  await page.waitForFunction(
    () => {
      const canvases = [...document.querySelectorAll(".plot canvas")];
      const isDrawn = (canvas) =>
        canvas.width > 0 &&
        canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte !== 0);
      const charts = [...document.querySelectorAll(".plot")];
      const drawn = charts.filter((plot) => canvases.some((canvas) => plot.contains(canvas) && isDrawn(canvas)));
      return charts.length === 4 && drawn.length === 4;
    },
    undefined,
    { timeout: 60_000 },
  );
}

const scenarios = {
  /** Every page in both languages: complete, without an error, and nothing serious for axe-core. */
  async pages() {
    for (const [look, options] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
      for (const language of ["en", "zh"]) {
        const page = await open({ ...options, locale: language === "zh" ? "zh-CN" : "en-US" });
        for (const [name, english, chinese] of PAGES) {
          await page.goto(`${url}/#/${name}`);
          await page.says(language === "zh" ? chinese : english);
          if (name === "") await overviewIsDrawn(page);
          assert.equal(await page.evaluate(() => document.documentElement.lang), language);
          await page.waitForLoadState("networkidle").catch(() => undefined);
          await examine(page, `${name || "overview"} ${language} ${look}`);
        }
        await page.finish();
      }
    }
  },

  /** What the pages say is what the server has. */
  async content() {
    const page = await open();
    await page.goto(`${url}/`);
    await overviewIsDrawn(page);
    const tile = (label) =>
      page.evaluate(
        (wanted) => [...document.querySelectorAll(".tiles div")].find((one) => one.firstChild.textContent === wanted)?.lastChild.textContent,
        label,
      );
    assert.match(await tile("Memory"), /^[\d.]+ MiB of [\d.]+ [MG]iB$/);
    assert.match(await tile("Connections"), /^\d+$/);
    await page.says("Takes writes");
    await page.says("rocksdb: ok");
    await page.goto(`${url}/#/boards/video/like/all`);
    await page.says("video:1");
    const rows = () =>
      page.evaluate(() => [...document.querySelectorAll("tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.deepEqual((await rows()).slice(0, 3), [["1", "video:1", "30"], ["2", "video:2", "29"], ["3", "video:3", "28"]]);
    await page.click("tbody a");
    await page.says("Item video:1");
    await page.waitForFunction(() => document.querySelectorAll("tbody.entries tr").length === 20);
    await page.getByRole("button", { name: "More" }).first().click();
    await page.waitForFunction(() => document.querySelectorAll("tbody.entries tr").length === 30);
    assert.deepEqual(await page.evaluate(() => document.querySelector("dl").innerText.split(/\s+/)), ["like", "30", "comment", "28", "view", "7"]);
    await fetch(`${url}/v1/items/video:1/reactions/like/999`, { method: "PUT" });
    await page.waitForFunction(() => document.querySelector("dl dd").textContent === "31");
    await page.goto(`${url}/#/users/999`);
    await page.waitForFunction(() => document.querySelector("tbody.entries a")?.textContent === "video:1");
    await page.goto(`${url}/#/server`);
    await page.says("Takes writes");
    await page.waitForFunction(() => document.querySelectorAll(".badge.good").length >= 9);
    await page.goto(`${url}/#/items/%zz`);
    await page.says("Item %zz");
    await page.waitForFunction(() => document.querySelector("#problem").textContent.includes("type:id"));
    page.problems = page.problems.filter((text) => !text.includes("400")); // the browser's own line about it
    await page.finish();
  },

  /** Comments, the inbox, and everything that a moderator does. */
  async comments() {
    const page = await open();
    const cards = () => page.evaluate(() => [...document.querySelectorAll(".comment .text")].map((one) => one.textContent));
    const shows = (text, count = 1) =>
      page.waitForFunction(([wanted, n]) => [...document.querySelectorAll(".comment .text")].filter((one) => one.textContent.includes(wanted)).length === n, [text, count]);
    const article = (text) => page.locator("article.comment", { hasText: text });
    const ask = async (path, options = {}) => (await fetch(`${url}/v1/${path}`, { ...options, headers: { "Content-Type": "application/json" } })).json();

    await page.goto(`${url}/#/items/video:1`);
    await page.says("Comments");
    await page.getByLabel("Order").selectOption("old");
    await shows("The first comment");
    await shows("A reply to it");
    await shows("<img src=x onerror=alert(1)> **not bold here**");
    assert.equal(await page.evaluate(() => document.querySelectorAll("main img").length), 0);
    assert.equal((await cards()).length, 21, "a page of 20, and a reply");
    await page.locator(".entries ~ button", { hasText: "More" }).last().click();
    await shows("Comment number 24");
    assert.equal((await cards()).length, 28);

    await article("Comment number 3").getByRole("button", { name: "Hide" }).click();
    await article("Comment number 3").getByText("Done: Hide").waitFor();
    await article("Comment number 3").locator(".badge", { hasText: "hidden" }).waitFor();
    await article("The first comment").getByRole("button", { name: "Pin" }).click();
    await article("The first comment").getByRole("button", { name: "Unpin" }).waitFor();
    const subject = await ask("items/video:1/subject");
    assert.deepEqual([subject.comments, subject.pinned.length], [27, 1]);
    await page.reload();
    await page.getByLabel("Order").selectOption("old");
    await shows("The first comment");
    await shows("Comment number 3", 0);
    await page.getByLabel("Also what is not public").check();
    await shows("Comment number 3");
    await examine(page, "item with hidden comments");

    await page.getByRole("combobox", { name: /^Mode/ }).selectOption("readonly");
    await page.getByLabel("Owner").fill("42");
    await page.getByRole("button", { name: "Save" }).click();
    await page.says("Done: Save");
    const { mode, owner } = await ask("items/video:1/subject");
    assert.deepEqual([mode, owner], ["readonly", "42"]);

    await article("The first comment").getByRole("link", { name: /^comment:/ }).click();
    await page.says("Replies");
    await shows("The first comment");
    await shows("A reply to it");
    await examine(page, "a comment");

    await page.goto(`${url}/#/moderation/video/pending`);
    await shows("Waits for a moderator");
    await article("Waits").getByRole("button", { name: "Approve" }).click();
    await article("Waits").locator(".badge", { hasText: "visible" }).waitFor();
    assert.equal((await ask("items/video:2/comments")).comments.length, 1);
    await page.getByLabel("State").selectOption("reported");
    await shows("Somebody reports this");
    await examine(page, "moderation reported");
    await page.getByLabel("State").selectOption("hidden");
    await shows("Comment number 3");

    await page.goto(`${url}/#/users/1`);
    await page.says("2 replied");
    await page.says("Inbox (1 unread)");
    await shows("The first comment");
    await page.getByRole("button", { name: "Ban", exact: true }).click();
    await page.says("Done: Ban");
    const post = (text) => ask("items/video:9/comments", { method: "POST", body: JSON.stringify({ user: "1", text }) });
    assert.equal((await post("refused")).error.code, "BANNED");
    await page.getByRole("button", { name: "Lift the ban" }).click();
    await page.says("Done: Lift the ban");
    assert.equal((await post("accepted")).state, "visible");
    await page.goto(`${url}/#/users/3`);
    await page.says("2 mentioned the user");
    await page.finish();
  },

  /** A server without a store has no comments and no lists by item; sentences say so. */
  async without_store() {
    const page = await open(DESKTOP, { refusals: true });
    await page.goto(`${url}/#/items/video:1`);
    await page.says("Comments need the store, and this server runs without one.");
    await page.says("like");
    await page.goto(`${url}/#/users/1`);
    await page.says("Comments need the store, and this server runs without one.");
    await page.goto(`${url}/#/moderation`);
    await page.says("Comments need the store, and this server runs without one.");
    await page.goto(`${url}/#/`);
    await overviewIsDrawn(page);
    await page.says("the server runs without it");
    await page.goto(`${url}/#/boards/video/like/day`);
    await page.says("this server keeps no windowed boards");
    await page.finish();
  },

  /** The whole of it without a mouse. */
  async keyboard() {
    const page = await open();
    await page.goto(`${url}/`);
    await page.says("Overview");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    await page.goto(`${url}/#/`);
    await page.getByRole("link", { name: "Look up" }).focus();
    await page.keyboard.press("Enter");
    await page.says("Look up an item");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main", "a new page has the focus");
    await page.keyboard.press("Tab");
    await page.keyboard.type("video:3");
    await page.keyboard.press("Enter");
    await page.says("Item video:3");
    await page.waitForFunction(() => document.title === "Item video:3 – Laud");
    const language = page.getByRole("combobox", { name: "Language" });
    await language.focus();
    await language.selectOption("zh");
    await page.says("条目 video:3");
    assert.equal(await page.evaluate(() => document.activeElement.ariaLabel ?? document.activeElement.getAttribute("aria-label")), "语言");
    await page.reload();
    await page.says("条目 video:3"); // the language is remembered
    await page.goBack();
    await page.says("查询条目");
    await page.finish();
  },

  /** A server with tokens: it asks, it says no, the token is for one tab, and its role decides. */
  async tokens() {
    const context = await browser.newContext(DESKTOP);
    const page = await open(DESKTOP, { refusals: true, context });
    await page.goto(`${url}/`);
    const dialog = page.getByRole("dialog");
    const use = async (token) => {
      await dialog.getByLabel("Token").fill(token);
      await page.keyboard.press("Enter");
    };
    await dialog.waitFor();
    await examine(page, "token dialog");
    await page.keyboard.press("Escape");
    await page.says("This server requires a token");
    await page.getByRole("button", { name: "Token" }).click();
    await use("not-a-token-of-this-server");
    await page.says("The server does not know this token.");
    await use(reader);
    await page.says("This needs an admin's token for all types.");
    await overviewIsDrawn(page);
    await page.goto(`${url}/#/server`);
    await page.says("This needs an admin's token for all types.");
    await page.getByRole("button", { name: "Token" }).click();
    await use(admin);
    await page.waitForFunction(() => !document.body.innerText.includes("needs an admin"));
    await page.says("Slow operations");
    const kept = await page.evaluate(() => [JSON.stringify({ ...sessionStorage }), JSON.stringify({ ...localStorage }), document.cookie]);
    assert.deepEqual(kept, [JSON.stringify({ "laud-token": admin }), "{}", ""]);
    await page.reload();
    await page.says("Slow operations");
    const other = await open(DESKTOP, { refusals: true, context });
    await other.goto(`${url}/`);
    await other.getByRole("dialog").waitFor();
    await other.finish();
    await page.getByRole("button", { name: "Token" }).click();
    await page.getByRole("button", { name: "Forget it" }).click();
    await dialog.getByText("This server requires a token").waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    assert.ok(page.asked.every((one) => !one.includes(admin) && !one.includes(reader)), "a token is in no address");
    await page.finish();
  },

  /** Behind a path of a proxy. */
  async path() {
    const inner = new URL(url);
    const proxy = createServer((outer, response) => {
      if (!outer.url.startsWith("/a/b/")) {
        response.statusCode = 404;
        response.end();
        return;
      }
      const options = { host: inner.hostname, port: inner.port, method: outer.method, path: outer.url.slice(4), headers: outer.headers };
      const passed = request(options, (answer) => {
        response.writeHead(answer.statusCode, answer.rawHeaders);
        answer.pipe(response);
      });
      passed.on("error", () => response.destroy());
      outer.pipe(passed);
    });
    await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${proxy.address().port}`;
    const page = await open();
    for (const [name, english] of PAGES) {
      await page.goto(`${address}/a/b/#/${name}`);
      await page.says(english);
      if (name === "") await overviewIsDrawn(page);
    }
    assert.deepEqual(page.asked.filter((one) => !one.startsWith(`${address}/a/b/`)), []);
    await page.finish(address);
    proxy.closeAllConnections();
    proxy.close();
  },

  /** The policy of the page, its size, and what a first visit loads. */
  async policy() {
    const page = await open();
    const responses = [];
    page.on("response", (response) => responses.push(response));
    await page.goto(`${url}/`);
    await overviewIsDrawn(page);
    const policy = (await responses[0].allHeaders())["content-security-policy"];
    assert.deepEqual(policy.split("; ").sort(), [...POLICY].sort());
    let total = 0;
    for (const response of responses) {
      const path = new URL(response.url()).pathname;
      if (path !== "/" && !path.startsWith("/console/")) continue;
      const headers = await response.allHeaders();
      assert.equal(headers["content-encoding"], "gzip", path);
      total += Number(headers["content-length"]) + JSON.stringify(headers).length;
    }
    assert.ok(total > 0 && total <= 150 * 1000, `the page has ${total} bytes`);
    const refused = await page.evaluate(async () => {
      const violations = [];
      document.addEventListener("securitypolicyviolation", (event) => violations.push(event.effectiveDirective));
      const script = document.createElement("script");
      script.textContent = "globalThis.ran = true";
      document.head.append(script);
      document.body.setAttribute("style", "color: red");
      const style = document.createElement("style");
      style.textContent = "* { color: red }";
      document.head.append(style);
      await new Promise((resolve) => setTimeout(resolve, 0));
      return [globalThis.ran ?? false, [...new Set(violations)].sort()];
    });
    assert.deepEqual(refused, [false, ["script-src-elem", "style-src-attr", "style-src-elem"]]);
    page.problems = page.problems.filter((text) => !text.includes("Content Security Policy"));
    await page.finish();
    console.log(`${total} bytes`);
  },

  /** Nothing is asked while the tab is hidden; a lost server is noticed, and found again. */
  async patience() {
    const page = await open(DESKTOP, { refusals: true });
    await page.goto(`${url}/`);
    await overviewIsDrawn(page);
    const show = (hidden) =>
      page.evaluate((value) => {
        Object.defineProperty(document, "hidden", { value, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    await show(true);
    // Polls that have begun end first. The longest wait between two is five seconds: if a longer time passes
    // without a request, none follows. A console that went on asking would keep this loop running for ever.
    let last;
    do {
      last = page.asked.length;
      await page.waitForTimeout(6000);
    } while (page.asked.length !== last);
    await show(false);
    await page.waitForRequest((one) => one.url().endsWith("/info"));
    await page.route("**/info", (route) => route.abort());
    await page.says("The server does not answer. Trying again.");
    await page.unroute("**/info");
    await page.waitForFunction(() => document.querySelector("#problem").textContent === "");
    await page.finish();
  },
};

try {
  await scenarios[scenario]();
} finally {
  await browser.close();
}
