// The committed calls are those of this server, and a new operation needs nothing but generating again.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { generate } from "../generate.mjs";
import { startServer } from "./helper.mjs";

test("the generated file is what the server's OpenAPI document gives", async (t) => {
  const server = await startServer(t);
  const document = await (await fetch(`${server.url}/openapi.json`)).json();
  const committed = await readFile(new URL("../src/generated.ts", import.meta.url), "utf8");
  assert.ok(generate(document) === committed, "src/generated.ts differs: run node generate.mjs URL");

  const answer = {
    200: {
      description: "",
      content: { "application/json": { schema: { $ref: "#/components/schemas/Value" } } },
    },
  };
  const item = { name: "item", in: "path", required: true, schema: { $ref: "#/components/schemas/Item" } };
  const body = {
    type: "object",
    required: ["text"],
    properties: { text: { type: "string" }, token: { type: "string" } },
  };
  document.paths["/v1/items/{item}/comments"] = {
    post: {
      operationId: "post_COMMENT",
      "x-operation": "COMMENT",
      summary: "Says something.",
      parameters: [item],
      requestBody: { content: { "application/json": { schema: body } } },
      responses: answer,
    },
    get: {
      operationId: "get_COMMENTS_OF",
      "x-operation": "COMMENTS_OF",
      summary: "What was said.",
      responses: answer,
      parameters: [item, { name: "limit", in: "query", required: false, schema: { type: "integer" } }],
    },
  };
  document.paths["/v1/batch"].post["x-operations"].push(
    { name: "COMMENT", arguments: "item text [TOKEN token]", summary: "" },
    { name: "COMMENTS_OF", arguments: "item [SORT s] [LIMIT n]", summary: "" },
  );
  const text = generate(document);
  for (const part of [
    "comment(args: CommentArguments, options?: CallOptions): Promise<Value>",
    "interface CommentArguments {\n  item: Item;\n  text: string;\n  token?: string | undefined;\n}",
    '{"argument":"text"},{"argument":"token","keyword":"TOKEN"}],\n    one: false,\n    repeat: "token"',
    // The two descriptions do not match, so it is not sent in a batch.
    'name: "COMMENTS_OF",\n    method: "GET",\n    path: "/v1/items/{item}/comments",\n    query: ["limit"],\n    body: [],\n    words: null,',
  ])
    assert.ok(text.includes(part), part);
});

test("a POST that the generator has not been told about is not repeated without a token", async (t) => {
  const server = await startServer(t);
  const document = await (await fetch(`${server.url}/openapi.json`)).json();
  document.paths["/v1/poke"] = {
    post: {
      "x-operation": "POKE",
      summary: "Pokes.",
      responses: { 200: { content: { "application/json": { schema: { type: "object" } } } } },
    },
  };
  assert.ok(/name: "POKE",[^}]*repeat: "never"/.test(generate(document)));
});
