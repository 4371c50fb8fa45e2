// The proxy of a site that uses the widgets of laud-client: it adds the token, and says who the user is. A browser
// must not do either.
//
//   LAUD_URL=http://localhost:5284 LAUD_TOKEN=… node examples/proxy.mjs 8080
//
// It passes /laud/ on. Put your own check of the login into userOf.
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const { LAUD_URL = "http://localhost:5284", LAUD_TOKEN = "" } = process.env;
const ALLOWED =
  /^\/v1\/(live|feed|cards|items\/[\w:-]+\/(counts|comments|comments\/live|reactions\/(like|report)\/[\w-]+)|comments\/comment:\d+(\/text)?)$/;

/** Who is logged in? This is an example: it believes a cookie. */
const userOf = (request) => /(?:^|; )user=(\d+)/.exec(request.headers.cookie ?? "")?.[1];

export async function pass(request, response) {
  const user = userOf(request);
  const url = new URL(request.url.replace(/^\/laud/, ""), LAUD_URL);
  if (!ALLOWED.test(url.pathname)) return response.writeHead(404).end();
  if (user === undefined && request.method !== "GET") return response.writeHead(401).end();
  url.pathname = url.pathname.replace(/(\/reactions\/\w+\/).+/, `$1${user}`);
  for (const name of ["user", "for"]) if (url.searchParams.has(name)) url.searchParams.set(name, user ?? "");
  const body = JSON.parse((await text(request)) || "null");
  for (const name of ["user", "for"]) if (body && name in body) body[name] = user;
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${LAUD_TOKEN}` };
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const sent = { method: request.method, headers, body: body && JSON.stringify(body), signal: gone.signal };
  const answer = await fetch(url, sent);
  response.writeHead(answer.status, { "Content-Type": answer.headers.get("Content-Type") });
  Readable.fromWeb(answer.body).on("error", () => response.destroy()).pipe(response);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  createServer((request, response) => {
    pass(request, response).catch(() => response.destroy());
  }).listen(Number(process.argv[2] ?? 8080), "127.0.0.1");
}
