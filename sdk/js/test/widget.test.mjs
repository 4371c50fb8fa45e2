// The web components in real Chromium, on a page with a strict policy, through the proxy of examples/proxy.mjs.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Laud } from "../dist/index.js";
import { startServer } from "./helper.mjs";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const playwright = await import("playwright-core").catch(() => undefined);
const skip =
  playwright === undefined
    ? "playwright-core is not installed; script/bootstrap installs it"
    : !existsSync(executablePath) && "chromium is not installed; script/bootstrap installs it";
const TOKEN = "writer-of-the-widget-test", MODERATOR = "admin-of-the-widget-test";

/** A site with a page of its own and the proxy. Its policy allows nothing but its own files. */
async function startSite(t, server) {
  process.env.LAUD_URL = server.url;
  process.env.LAUD_TOKEN = TOKEN;
  const { pass } = await import("../../../examples/proxy.mjs");
  const site = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://site");
    if (pathname.startsWith("/laud/")) {
      await pass(request, response).catch(() => response.destroy());
    } else if (pathname === "/") {
      response.setHeader("Content-Type", "text/html; charset=utf-8");
      response.setHeader("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'");
      response.end('<!doctype html><html lang="en"><title>test</title><main><h1>Test</h1></main><script type="module" src="/dist/widget/index.js"></script>');
    } else if (/^\/dist\/(widget\/)?\w+\.js$/.test(pathname)) {
      response.setHeader("Content-Type", "text/javascript");
      response.end(await readFile(new URL(`..${pathname}`, import.meta.url)));
    } else {
      response.statusCode = pathname === "/favicon.ico" ? 204 : 404;
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

async function startAll(t) {
  const directory = await mkdtemp(join(tmpdir(), "laud-widget-"));
  t.after(() => rm(directory, { recursive: true }));
  const tokens = join(directory, "tokens");
  await writeFile(tokens, `write ${TOKEN}\nadmin ${MODERATOR}\n`, { mode: 0o600 });
  const server = await startServer(t, "--tokens", tokens);
  const url = await startSite(t, server);
  const browser = await playwright.chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  t.after(() => browser.close());
  return { server, url, browser, laud: new Laud({ url: server.url, token: MODERATOR }) };
}

/** A page with these elements in it. `user`: who is logged in, for the site and for the widgets. */
async function open({ browser, url }, html, { user, hash = "", ...options } = {}) {
  const context = await browser.newContext(options);
  if (user !== undefined) await context.addCookies([{ name: "user", value: user, url }]);
  const page = await context.newPage();
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  await page.goto(`${url}/${hash}`);
  await page.evaluate((elements) => {
    const parsed = new DOMParser().parseFromString(elements, "text/html");
    document.querySelector("main").append(...[...parsed.body.children].map((one) => document.importNode(one, true)));
  }, html);
  page.text = (selector) => page.evaluate((one) => document.querySelector(one).shadowRoot.textContent, selector);
  page.says = (selector, text) =>
    page
      .waitForFunction(([one, wanted]) => document.querySelector(one).shadowRoot.textContent.includes(wanted), [selector, text])
      .catch(async (error) => {
        throw new Error(`${selector} should say "${text}": ${error.message}\n${await page.text(selector)}`);
      });
  page.finish = async () => {
    assert.deepEqual(page.problems, []);
    await context.close();
  };
  return page;
}

/** Nothing serious for axe-core, if it is installed. */
async function examine(page, t) {
  let path;
  try {
    path = createRequire(new URL("../../../tests/system/package.json", import.meta.url)).resolve("axe-core/axe.min.js");
  } catch {
    t.diagnostic("axe-core is not installed, so accessibility was not examined");
    return;
  }
  await page.evaluate(await readFile(path, "utf8"));
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  assert.deepEqual(
    violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`),
    [],
  );
}

test("the module can be loaded outside of a page", async () => {
  const { LaudLike, LaudComments } = await import("../dist/widget/index.js");
  assert.deepEqual([typeof LaudLike, typeof LaudComments], ["function", "function"]);
});

test("widgets", { skip }, async (t) => {
  const all = await startAll(t);
  const { laud } = all;

  await t.test("laud-like: two users and a visitor", async (inner) => {
    const likeOf = (item, more = "") => `<laud-like item="${item}" ${more}></laud-like>`;
    const one = await open(all, likeOf("video:1", 'user="1"') + likeOf("video:2", 'user="1"'), { user: "1" });
    const two = await open(all, likeOf("video:1", 'user="2" lang="zh"'), { user: "2" });
    const visitor = await open(all, likeOf("video:1"));
    const button = (page) => page.locator("laud-like").first().locator("button");
    const shows = (page, pressed, count) =>
      page.waitForFunction(
        ([wanted, text]) => {
          const found = document.querySelector("laud-like").shadowRoot.querySelector("button");
          return found.getAttribute("aria-pressed") === wanted && found.textContent === text;
        },
        [String(pressed), count],
      );
    await Promise.all([shows(one, false, "0"), shows(two, false, "0"), shows(visitor, false, "0")]);
    await button(one).click();
    await Promise.all([shows(one, true, "1"), shows(two, false, "1"), shows(visitor, false, "1")]);
    assert.equal(await button(two).getAttribute("aria-label"), "点赞 1");
    await button(two).focus();
    await two.keyboard.press("Space");
    await Promise.all([shows(one, true, "2"), shows(two, true, "2"), shows(visitor, false, "2")]);
    await visitor.evaluate(() => {
      globalThis.asked = 0;
      document.addEventListener("laud-login", () => globalThis.asked++);
    });
    await button(visitor).click();
    assert.equal(await visitor.evaluate(() => globalThis.asked), 1);
    await examine(one, inner);
    await one.evaluate(() => document.querySelector("laud-like").setAttribute("item", "video:9"));
    await shows(one, false, "0");
    await one.evaluate(() => document.querySelector("laud-like").setAttribute("item", "no item"));
    await one.says("laud-like", "the attribute item must be type:id");
    await Promise.all([one.finish(), two.finish(), visitor.finish()]);
  });

  await t.test("the proxy says who the user is, whatever the browser claims", async () => {
    const page = await open(all, "", { user: "3" });
    const statuses = await page.evaluate(async () => {
      const send = async (method, path, body) =>
        (await fetch(`/laud${path}`, { method, ...(body && { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }) })).status;
      return [
        await send("PUT", "/v1/items/video:7/reactions/like/99"),
        await send("DELETE", "/v1/users/1"),
        await send("POST", "/v1/batch", { operations: [["LIKE", "99", "video:7"]] }),
        await send("GET", "/metrics"),
      ];
    });
    assert.deepEqual(statuses, [200, 404, 404, 404]);
    assert.deepEqual((await laud.likers({ item: "video:7" })).users.map(({ user }) => user), ["3"]);
    page.problems = [];
    await page.finish();
  });

  const commentsOf = (item, more = "") => `<laud-comments item="${item}" ${more}></laud-comments>`;
  const post = (user, item, text) => laud.comment({ user, item, text });
  const article = (page, text) => page.locator("laud-comments li.comment > article", { hasText: text });
  const composer = (page) => page.locator("laud-comments form");

  await t.test("laud-comments: writing, replying, editing and deleting", async (inner) => {
    await post("9", "video:20", "The first one");
    const page = await open(all, commentsOf("video:20", 'user="1"'), { user: "1" });
    await page.says("laud-comments", "The first one");
    await page.says("laud-comments", "1 comment");
    await composer(page).locator("textarea").fill("Mine, **bold** <b>not bold</b> [x](javascript:alert(1))");
    await composer(page).getByRole("button", { name: "Post" }).click();
    await page.says("laud-comments", "2 comments");
    const mine = article(page, "Mine");
    assert.equal(await mine.locator(".text strong").textContent(), "bold");
    assert.equal(await mine.locator(".text b, .text a").count(), 0);
    assert.equal(await composer(page).locator("textarea").inputValue(), "");

    await article(page, "The first one").getByRole("button", { name: "Reply" }).click();
    await page.keyboard.type("My reply");
    await page.keyboard.press("Control+Enter");
    await article(page, "My reply").waitFor();
    assert.equal(await page.locator("laud-comments ol.replies li.comment").count(), 1);

    await mine.getByRole("button", { name: "Edit" }).click();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("Changed by me");
    await page.keyboard.press("Control+Enter");
    await article(page, "Changed by me").getByText("edited").waitFor();

    await article(page, "The first one").getByRole("button", { name: /^Like/ }).click();
    await article(page, "The first one").getByRole("button", { name: "Liked 1" }).waitFor();
    await article(page, "The first one").getByRole("button", { name: "Report" }).click();
    await article(page, "The first one").getByRole("button", { name: "Reported" }).waitFor();
    await examine(page, inner);

    await article(page, "Changed by me").getByRole("button", { name: "Delete" }).click();
    await article(page, "Changed by me").getByRole("button", { name: "Delete it for good?" }).click();
    await article(page, "Changed by me").waitFor({ state: "detached" });
    const { comments } = await laud.comments({ item: "video:20", by: "old", for: "1" });
    assert.deepEqual(
      comments.map(({ text, counts, replies }) => [text, counts, replies.map((reply) => [reply.user, reply.text])]),
      [["The first one", { comment: 1, like: 1, report: 1 }, [["1", "My reply"]]]],
    );
    await page.finish();
  });

  await t.test("laud-comments: orders, pages, threads, pins and links to a comment", async () => {
    const roots = [];
    for (let i = 0; i < 25; i++) roots.push((await post("5", "video:21", `Root ${i}.`)).comment);
    for (let i = 0; i < 24; i++) await post("6", roots[0], `Reply ${i}.`);
    await laud.subjectset({ item: "video:21", owner: "5" });
    await laud.pin({ comment: roots[3] });
    const page = await open(all, commentsOf("video:21", 'user="7" orders="new,old"'), { user: "7" });
    const shown = () => page.evaluate(() => [...document.querySelector("laud-comments").shadowRoot.querySelectorAll("li.comment > article .text")].map((one) => one.textContent));
    await page.says("laud-comments", "49 comments");
    await page.says("laud-comments", "Root 23."); // the live count may arrive before the first page
    assert.deepEqual((await shown()).slice(0, 3), ["Root 3.", "Root 24.", "Root 23."]);
    assert.equal(await article(page, "Root 3.").locator(".mark", { hasText: "Pinned" }).count(), 1);
    assert.equal(await article(page, "Root 3.").locator(".mark", { hasText: "Author" }).count(), 1);
    await page.getByRole("button", { name: "More comments" }).click();
    await page.waitForFunction(() => document.querySelector("laud-comments").shadowRoot.querySelectorAll("ol[part=list] > li").length === 25);
    await page.getByRole("button", { name: "Show 21 more replies" }).click();
    await page.getByRole("button", { name: "Show 4 more replies" }).click();
    await page.says("laud-comments", "Reply 23.");
    assert.deepEqual((await shown()).filter((text) => text.startsWith("Reply")), Array.from({ length: 24 }, (_, i) => `Reply ${i}.`));
    await page.getByRole("combobox", { name: "Order" }).selectOption("old");
    await page.waitForFunction(() => document.querySelector("laud-comments").shadowRoot.querySelectorAll("ol[part=list] > li > article .text")[1]?.textContent === "Root 0.");
    await page.finish();

    const linked = await open(all, commentsOf("video:21", 'orders="new"'), { hash: `#${roots[10].replace(":", "-")}` });
    await linked.says("laud-comments", "Root 10.");
    assert.ok(await linked.evaluate(() => document.querySelector("laud-comments").shadowRoot.activeElement?.textContent.includes("Root 10.")));
    await linked.getByRole("button", { name: "Show all comments" }).click();
    await linked.says("laud-comments", "Root 24.");
    await linked.finish();
  });

  await t.test("laud-comments: what is held, closed, deleted or refused; names; Chinese", async (inner) => {
    await laud.subjectset({ item: "video:22", mode: "held" });
    const page = await open(all, commentsOf("video:22", 'user="1" lang="zh"'), { user: "1" });
    await page.says("laud-comments", "还没有评论。");
    await page.evaluate(() => {
      document.querySelector("laud-comments").profiles = (users) => Object.fromEntries(users.map((user) => [user, { name: `张三${user}`, url: "/users/1" }]));
    });
    await page.says("laud-comments", "还没有评论。");
    await composer(page).locator("textarea").fill("等审核的评论");
    await composer(page).getByRole("button", { name: "发布" }).click();
    await page.says("laud-comments", "等待审核，仅自己可见。");
    await page.says("laud-comments", "张三1");
    await examine(page, inner);
    const visitor = await open(all, commentsOf("video:22"));
    await visitor.says("laud-comments", "No comments yet.");
    await visitor.evaluate(() => {
      globalThis.asked = 0;
      document.addEventListener("laud-login", () => globalThis.asked++);
    });
    await visitor.getByRole("button", { name: "Log in to comment" }).click();
    assert.equal(await visitor.evaluate(() => globalThis.asked), 1);
    await visitor.finish();
    await laud.ban({ user: "1" });
    await composer(page).locator("textarea").fill("被拒绝");
    await composer(page).getByRole("button", { name: "发布" }).click();
    await page.says("laud-comments", "你目前不能发表评论。");
    assert.equal(await composer(page).locator("textarea").inputValue(), "被拒绝");
    await composer(page).locator("textarea").fill("长".repeat(3400));
    await page.says("laud-comments", "内容过长：10200 / 10000 字节。");
    page.problems = page.problems.filter((text) => !text.includes("403"));
    await page.finish();

    await laud.unban({ user: "1" });

    const root = await post("2", "video:23", "Will be deleted");
    await post("3", root.comment, "Stays");
    await laud.uncomment({ user: "2", comment: root.comment });
    await laud.subjectset({ item: "video:23", mode: "readonly" });
    const readonly = await open(all, commentsOf("video:23", 'user="3"'), { user: "3" });
    await readonly.says("laud-comments", "This comment was deleted.");
    await readonly.says("laud-comments", "Stays");
    await readonly.says("laud-comments", "No new comments are accepted here.");
    assert.equal(await readonly.getByRole("button", { name: "Reply" }).count(), 0);
    await laud.subjectset({ item: "video:23", mode: "closed" });
    await readonly.evaluate(() => document.querySelector("laud-comments").setAttribute("lang", "en"));
    await readonly.says("laud-comments", "The comments are closed.");
    readonly.problems = readonly.problems.filter((text) => !text.includes("403"));
    await readonly.finish();
  });

  await t.test("laud-comments: live", async () => {
    const root = await post("1", "video:24", "Seen by all");
    const page = await open(all, commentsOf("video:24", 'user="2"'), { user: "2" });
    await page.says("laud-comments", "Seen by all");
    // The stream is open when its first change arrives; until then the comment is changed again and again.
    let edits = 0;
    const first = page.says("laud-comments", "Edited");
    let seen = false;
    first.then(() => (seen = true), () => (seen = true));
    while (!seen) {
      await laud.edit({ user: "1", comment: root.comment, text: `Edited ${edits++}` });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await first;
    const reply = await post("3", root.comment, "A live reply");
    await page.says("laud-comments", "A live reply");
    await laud.uncomment({ user: "3", comment: reply.comment });
    await page.waitForFunction(() => !document.querySelector("laud-comments").shadowRoot.textContent.includes("A live reply"));
    await post("3", "video:24", "A new root");
    await page.getByRole("button", { name: "Show 1 new comment" }).click();
    await page.says("laud-comments", "A new root");
    await page.says("laud-comments", "2 comments");
    await page.finish();
  });

  await t.test("Markdown: a subset, and nothing of it becomes markup", async () => {
    const page = await open(all, "");
    const rendered = await page.evaluate(async () => {
      const { markdown } = await import("/dist/widget/index.js");
      const html = (text) => {
        const box = document.createElement("div");
        box.append(markdown(text));
        return box.innerHTML;
      };
      const link = (address, label = address) =>
        `<a href="${address}" target="_blank" rel="nofollow ugc noopener noreferrer">${label}</a>`;
      return [
        [html("one\ntwo\n\nthree"), "<p>one<br>two</p><p>three</p>"],
        [html("**b** *i* ~~d~~ `**c**`"), "<p><strong>b</strong> <em>i</em> <del>d</del> <code>**c**</code></p>"],
        [html("2 * 3 * 4 and \\*stars\\*"), "<p>2 * 3 * 4 and *stars*</p>"],
        [html("**a *b* c**"), "<p><strong>a <em>b</em> c</strong></p>"],
        [html("> quoted\n> too\nafter"), "<blockquote><p>quoted<br>too</p></blockquote><p>after</p>"],
        [html("- a\n- b\n1. c"), "<ul><li>a</li><li>b</li></ul><ol><li>c</li></ol>"],
        [html("```js\n<b>&\n```\nx"), '<pre tabindex="0"><code>&lt;b&gt;&amp;</code></pre><p>x</p>'],
        [html("see https://a.example/b?c=1."), `<p>see ${link("https://a.example/b?c=1")}.</p>`],
        [html("看 https://a.example/路。好"), `<p>看 ${link("https://a.example/%E8%B7%AF", "https://a.example/路")}。好</p>`],
        [html("[label](https://a.example/)"), `<p>${link("https://a.example/", "label")}</p>`],
        [html("[x](javascript:alert(1))"), "<p>[x](javascript:alert(1))</p>"],
        [html("[x](data:text/html,y) [y](/own) [z]( javascript:a)"), "<p>[x](data:text/html,y) [y](/own) [z]( javascript:a)</p>"],
        [html("<img src=x onerror=alert(1)><script>alert(2)</script>"), "<p>&lt;img src=x onerror=alert(1)&gt;&lt;script&gt;alert(2)&lt;/script&gt;</p>"],
        [html("![x](https://a.example/x.png)"), `<p>!${link("https://a.example/x.png", "x")}</p>`],
        [html(">".repeat(9) + "deep").match(/<blockquote>/g).length, 3],
        [html("**".repeat(5000)).length > 0, true],
        [html("[".repeat(10000)).length > 0, true],
        [html(`${"*a ".repeat(3000)}`).length > 0, true],
      ];
    });
    for (const [got, wanted] of rendered) assert.equal(got, wanted);
    await page.finish();
  });
});
