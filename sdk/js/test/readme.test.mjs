// Every program in README.md runs as it is, against a real server.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { startServer } from "./helper.mjs";

const run = (file) =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    child.stdout.on("data", (chunk) => {
      said += chunk;
    });
    child.stderr.on("data", (chunk) => {
      said += chunk;
    });
    child.on("exit", (code) => resolve({ code, said }));
  });

test("the programs of README.md", async (t) => {
  const server = await startServer(t, "--exclusive", "like,dislike");
  const text = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const directory = await mkdtemp(join(tmpdir(), "laud-readme-"));
  t.after(() => rm(directory, { recursive: true }));
  const programs = [...text.matchAll(/## ([^\n]+)\n(?:(?!\n## )[^])*?```js\n([^]*?)```/g)];
  assert.equal(programs.length, 8);
  const shown = {
    Start: "video:42 [ 'like' ] { like: 1, view: 1 }\nvideo:43 [] {}\n",
    Batches: "[ 'fulfilled', 'rejected', 'fulfilled' ]\n",
    "A local copy of a user's reactions": /^(true\n\[ true, false \]|false\n\[ false, false \])\n$/,
    Errors: /^BAD_ARGUMENT 400 .+ undefined\n$/,
  };
  for (const [i, [, heading, program]] of programs.entries()) {
    const file = join(directory, `program-${i}.mjs`);
    await writeFile(
      file,
      program
        .replace('"laud-client"', JSON.stringify(new URL("../dist/index.js", import.meta.url).href))
        .replaceAll("http://localhost:5284", server.url),
    );
    const { code, said } = await run(file);
    assert.equal(code, 0, `${heading}: ${said}`);
    if (typeof shown[heading] === "string") assert.equal(said, shown[heading], heading);
    else if (shown[heading]) assert.match(said, shown[heading], heading);
  }
});
