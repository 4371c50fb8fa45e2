// Generates src/generated.ts, the typed calls of all operations, from the OpenAPI document of a server.
//
//   node generate.mjs URL      asks a running server, e.g. http://localhost:5284
//   node generate.mjs FILE     reads a saved document
//
// The document describes an operation twice: by its routes (paths with `x-operation`), and its
// words in a batch (`x-operations` of POST /v1/batch, e.g. "user kind item [LIMIT n]"). Both list their
// arguments in the same order, so they are matched by position. An operation whose two lists do not match
// is generated too, but it is never sent in a batch.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

// These are short forms of other operations for the kind `like`. They have no route, so the document does
// not describe their answers: they answer what the other operation answers.
const SHORT_FORMS = {
  LIKE: "REACT",
  UNLIKE: "UNREACT",
  LIKED: "REACTED",
  LIKES: "REACTIONS",
  LIKERS: "REACTORS",
};
// POST requests that only read. Any other POST is repeated only if it has a token.
const READS_BY_POST = ["COUNTS", "FEED", "CARDS"];
// Names of schemas that would hide a global name of JavaScript.
const RENAMED = { Set: "SetAnswer", Error: "ErrorAnswer", Map: "MapAnswer", Event: "EventAnswer" };

const camel = (name) => name.toLowerCase().replace(/[_-]+(\w)/g, (_, letter) => letter.toUpperCase());
const capital = (name) => name[0].toUpperCase() + name.slice(1);
const comment = (text, indent = "") => `${indent}/** ${text.replaceAll("*/", "* /")} */\n`;
const key = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

function typeOf(schema, indent = "") {
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return RENAMED[name] ?? name;
  }
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(" | ");
  }
  switch (schema.type) {
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "array":
      return `Array<${typeOf(schema.items, indent)}>`;
    case "object":
      return typeOfObject(schema, indent);
    default:
      return "unknown";
  }
}

function typeOfObject(schema, indent) {
  if (!schema.properties) {
    const values =
      typeof schema.additionalProperties === "object" ? typeOf(schema.additionalProperties, indent) : "unknown";
    return `Record<string, ${values}>`;
  }
  const inner = indent + "  ";
  const required = schema.required ?? [];
  const members = Object.entries(schema.properties).map(
    ([name, member]) =>
      `${inner}${key(name)}${required.includes(name) ? "" : "?"}: ${typeOf(member, inner)};\n`,
  );
  return `{\n${members.join("")}${indent}}`;
}

/**
 * "user item [item ...] [LIMIT n] [COLD skip|ask] [ALL] [EXTRA json] [MENTION user ...]" as a list of
 * { name, keyword, many, values, flag, json }.
 */
function parseWords(text) {
  const words = [];
  for (const [, optional, plain] of text.matchAll(/\[([^\]]*)\]|(\S+)/g)) {
    if (plain) {
      words.push({ name: plain });
      continue;
    }
    const [first, second, third] = optional.split(" ");
    if (second === "...") words.at(-1).many = true;
    else
      words.push({
        name: first.toLowerCase(),
        keyword: first,
        values: second?.includes("|") ? second.split("|") : null,
        ...(second === undefined && { flag: true }),
        ...(second === "json" && { json: true }),
        ...(third === "..." && { many: true }),
      });
  }
  return words;
}

/** The arguments of a route, in the order of the document: parameters, then members of the body. */
function argumentsOf(route) {
  const list = (route.parameters ?? []).map((p) => ({
    name: p.name,
    in: p.in,
    required: p.required === true,
    schema: p.schema,
  }));
  const body = route.requestBody?.content["application/json"].schema;
  for (const [name, schema] of Object.entries(body?.properties ?? {})) {
    list.push({ name, in: "body", required: (body.required ?? []).includes(name), schema });
  }
  return list;
}

/**
 * Gives each argument its word in a batch; null if the two lists do not match. Words and arguments have the same
 * name, or its plural, except for a few, which are in the same order.
 */
function match(words, list) {
  const isOf = ({ name, many }) => (argument) => argument.name === name || (many && argument.name === `${name}s`);
  const rest = list.filter((argument) => !words.some((word) => isOf(word)(argument)));
  const matched = words.map((word) => ({ ...word, argument: list.find(isOf(word)) ?? rest.shift() }));
  const fits = ({ keyword, name, many, argument }) =>
    argument !== undefined &&
    (!keyword || isOf({ name, many })(argument)) &&
    (argument.schema.type !== "array" || many === true);
  return matched.every(fits) ? matched : null;
}

function operationOfRoute(method, path, route, batch) {
  const described = batch.get(route["x-operation"]);
  let list = argumentsOf(route);
  const words = described ? match(parseWords(described.arguments), list) : null;
  if (words) {
    // What the operation takes in a batch decides what it needs: the document merges routes of the same
    // path, and lists the parameters of all of them.
    list = words.map(({ argument, keyword }) => ({ ...argument, required: !keyword }));
  }
  const { content } = route.responses["200"] ?? route.responses["201"];
  const type = Object.keys(content)[0];
  const one = words?.some(({ many, argument }) => many && argument.schema.type !== "array") ?? false;
  return {
    name: route["x-operation"],
    method: method.toUpperCase(),
    path,
    list,
    words,
    one,
    type,
    summary: route.summary,
    answer: content[type].schema,
  };
}

function operationWithoutRoute(described, routes) {
  const target = routes.find((operation) => operation.name === SHORT_FORMS[described.name]);
  const words = parseWords(described.arguments).map((word) => {
    const same = target?.list.find((argument) => argument.name === word.name);
    let schema = same?.schema ?? { type: "string" };
    if (word.values) schema = { enum: word.values };
    const name = word.many ? `${word.name}s` : word.name;
    if (word.many) schema = { type: "array", items: schema };
    return { ...word, argument: { name, in: "batch", required: !word.keyword, schema } };
  });
  const operation = {
    name: described.name,
    method: null,
    path: null,
    list: words.map((word) => word.argument),
    words,
    one: false,
    type: "application/json",
    summary: described.summary,
    answer: target?.answer ?? { type: "object" },
  };
  return withRouteOf(target, operation);
}

/** A short form takes the route of the other operation, if that route takes all its arguments. */
function withRouteOf(target, operation) {
  const list = operation.list.map((argument) => target?.list.find(({ name }) => name === argument.name));
  if (!target || list.includes(undefined)) return operation;
  const taken = list.map((argument, i) => ({ ...operation.list[i], in: argument.in }));
  return { ...operation, method: target.method, path: target.path.replace("{kind}", "like"), list: taken };
}

function collect(document) {
  const described = document.paths["/v1/batch"]?.post["x-operations"] ?? [];
  const batch = new Map(described.map((operation) => [operation.name, operation]));
  const operations = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, route] of Object.entries(methods)) {
      if (!route["x-operation"]) continue;
      const operation = operationOfRoute(method, path, route, batch);
      const again = operations.some(({ name }) => name === operation.name);
      operations.push({
        ...operation,
        call: again ? method + capital(camel(operation.name)) : camel(operation.name),
      });
    }
  }
  const routes = [...operations];
  for (const operation of described) {
    if (routes.some(({ name }) => name === operation.name)) continue;
    operations.push({ ...operationWithoutRoute(operation, routes), call: camel(operation.name) });
  }
  // A stream is not a call: live.ts reads it.
  return operations.filter(({ type }) => type === "application/json");
}

/** Some answers are a single value for one item and an array for many. */
function answerType(operation, document) {
  const name = typeOf(operation.answer, "  ");
  const schema = document.components.schemas[operation.answer.$ref?.split("/").at(-1)];
  const mixed = Object.values(schema?.properties ?? {}).some(
    ({ type }) => Array.isArray(type) && type.includes("array"),
  );
  if (!mixed) return name;
  return operation.words?.some(({ many, argument }) => many && argument.schema.type === "array")
    ? `Many<${name}>`
    : `One<${name}>`;
}

/** Whether sending it again is harmless: it sets a state, it only reads, or a token makes it count once. */
function repeatOf({ method, name, list }) {
  if (list.some((argument) => argument.name === "token")) return "token";
  if (method === "POST" && !READS_BY_POST.includes(name)) return "never";
  if (method === null && !(name in SHORT_FORMS)) return "never";
  return "always";
}

function tableEntry(operation) {
  const names = (where) => operation.list.filter((argument) => argument.in === where).map(({ name }) => name);
  const words =
    operation.words?.map(({ keyword, many, flag, json, argument }) => ({
      argument: argument.name,
      ...(keyword && { keyword }),
      ...(many && { many }),
      ...(flag && { flag }),
      ...(json && { json }),
    })) ?? null;
  const entry = {
    name: operation.name,
    method: operation.method,
    path: operation.path,
    query: names("query"),
    body: names("body"),
    words,
    one: operation.one,
    repeat: repeatOf(operation),
  };
  const members = Object.entries(entry).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `  ${operation.call}: {\n    ${members.join(",\n    ")},\n  },\n`;
}

function argumentsType({ call, list }) {
  const members = list.map(
    ({ name, required, schema }) =>
      `  ${key(name)}${required ? "" : "?"}: ${typeOf(schema, "  ")}${required ? "" : " | undefined"};\n`,
  );
  return `export interface ${capital(call)}Arguments {\n${members.join("")}}\n\n`;
}

function method(operation, document) {
  const { call, list, summary } = operation;
  const answer = answerType(operation, document);
  const optional = list.every((argument) => !argument.required);
  const args = list.length === 0 ? "" : `args: ${capital(call)}Arguments${optional ? " = {}" : ""}, `;
  return (
    comment(summary, "  ") +
    `  ${call}(${args}options?: CallOptions): Promise<${answer}> {\n` +
    `    return this.call<${answer}>(operations.${call}, ${list.length === 0 ? "{}" : "args"}, options);\n  }\n`
  );
}

function schemas(document) {
  return Object.entries(document.components.schemas)
    .map(([name, schema]) => {
      const type = typeOf(schema);
      const declared = type.startsWith("{") && type.endsWith("}")
        ? `interface ${RENAMED[name] ?? name} ${type}`
        : `type ${RENAMED[name] ?? name} = ${type};`;
      return (schema.description ? comment(schema.description) : "") + `export ${declared}\n\n`;
    })
    .join("");
}

function limits(document) {
  const batch =
    document.paths["/v1/batch"].post.requestBody.content["application/json"].schema.properties.operations;
  const live = document.paths["/v1/live"].get.parameters.find(({ name }) => name === "items").schema;
  return `/** Limits of the server, as its OpenAPI document states them. */
export const limits = {
  batchOperations: ${batch.maxItems},
  liveItems: ${live.maxItems},
  item: new RegExp(${JSON.stringify(document.components.schemas.Item.pattern)}),
  user: new RegExp(${JSON.stringify(document.components.schemas.Id.pattern)}),
} as const;
`;
}

export function generate(document) {
  const operations = collect(document);
  const withArguments = operations.filter(({ list }) => list.length > 0);
  return `// Generated by generate.mjs from the OpenAPI document of the server. Do not edit: run it again.
import type { CallOptions, Operation } from "./operation.js";

/** The answer about a single item, where the same answer about many items has arrays. */
export type One<T> = { [K in keyof T]: Exclude<T[K], unknown[]> };
export type Many<T> = { [K in keyof T]: Extract<T[K], unknown[]> };

${schemas(document)}${withArguments.map(argumentsType).join("")}${limits(document)}
/** How each operation is sent. */
export const operations = {
${operations.map(tableEntry).join("")}} satisfies Record<string, Operation>;

/** One typed call for each operation. */
export abstract class Calls {
  protected abstract call<T>(operation: Operation, args: object, options?: CallOptions): Promise<T>;

${operations.map((operation) => method(operation, document)).join("\n")}}
`;
}

async function main(source) {
  const text = /^https?:/.test(source)
    ? await (await fetch(`${source}/openapi.json`)).text()
    : await readFile(source, "utf8");
  await writeFile(new URL("src/generated.ts", import.meta.url), generate(JSON.parse(text)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.length !== 3) {
    console.error("usage: node generate.mjs URL|FILE");
    process.exit(2);
  }
  await main(process.argv[2]);
}
