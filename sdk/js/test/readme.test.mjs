// Every program in README.md runs as it is, against a real server.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { format } from "node:util";
import { startServer } from "./helper.mjs";

/** What a program prints. It runs in this process, so it must end what it has begun. */
async function run(file) {
  const { log } = console;
  let said = "";
  console.log = (...words) => {
    said += `${format(...words)}\n`;
  };
  try {
    await import(file);
  } finally {
    console.log = log;
  }
  return said;
}

test("the programs of README.md", async (t) => {
  const server = await startServer(t, "--exclusive", "like,dislike");
  const text = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const directory = await mkdtemp(join(tmpdir(), "laud-readme-"));
  t.after(() => rm(directory, { recursive: true }));
  const programs = [...text.matchAll(/## ([^\n]+)\n(?:(?!\n## )[^])*?```js\n([^]*?)```/g)];
  assert.equal(programs.length, 9);
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
    const said = await run(pathToFileURL(file).href);
    if (typeof shown[heading] === "string") assert.equal(said, shown[heading], heading);
    else if (shown[heading]) assert.match(said, shown[heading], heading);
  }
});
