// A browser small enough for the page of docs/tutorial.md: loads it from the origin in argv[2], runs
// its script, clicks its first button argv[3] times, and prints what it shows, at first and after each
// click. A request to another origin is made as a browser does: asked for first where it has to be, and
// refused where the server does not allow it.
'use strict';
const assert = require('node:assert');

const origin = process.argv[2];
const clicks = Number(process.argv[3]);
const send = globalThis.fetch;

class Element {
  constructor(tag) {
    this.tag = tag;
    this.parts = [];
  }

  append(...parts) {
    this.parts.push(...parts);
  }

  set textContent(text) {
    this.parts = [text];
  }

  get textContent() {
    return this.parts.map((part) => part.textContent ?? String(part)).join('');
  }

  all(tag) {
    const inside = this.parts.flatMap((part) => (part instanceof Element ? part.all(tag) : []));
    return this.tag === tag ? [this, ...inside] : inside;
  }
}

function list(response, name) {
  return (response.headers.get(name) ?? '').split(',').map((word) => word.trim().toLowerCase());
}

function checkOrigin(response, what) {
  const allowed = response.headers.get('Access-Control-Allow-Origin');
  assert(allowed === '*' || allowed === origin, `${what}: ${origin} is not allowed, only ${allowed}`);
}

async function ask(url, method, names) {
  const response = await send(url, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': names.join(','),
    },
  });
  assert(response.ok, `OPTIONS ${url}: ${response.status}`);
  checkOrigin(response, `OPTIONS ${url}`);
  assert(list(response, 'Access-Control-Allow-Methods').includes(method.toLowerCase()), method);
  const allowed = list(response, 'Access-Control-Allow-Headers');
  assert(names.every((name) => allowed.includes(name)), `${names} are not all in ${allowed}`);
}

async function fetchAsPage(url, { method = 'GET', headers = {}, body } = {}) {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  if (!['GET', 'HEAD', 'POST'].includes(method) || names.length > 0) await ask(url, method, names);
  const response = await send(url, { method, headers: { ...headers, Origin: origin }, body });
  checkOrigin(response, `${method} ${url}`);
  return response;
}

async function main() {
  const html = await (await send(`${origin}/index.html`)).text();
  const id = html.match(/<ul id="(\w+)"><\/ul>/)[1];
  const script = html.match(/<script type="module">\n([^]*)<\/script>/)[1];
  const feed = new Element('ul');
  globalThis.fetch = fetchAsPage;
  globalThis.document = {
    createElement: (tag) => new Element(tag),
    querySelector: (query) => (query === `#${id}` ? feed : null),
  };
  const show = () => console.log(feed.all('li').map((row) => `${row.textContent}\n`).join(''));
  await import(`data:text/javascript,${encodeURIComponent(script)}`);
  show();
  for (let i = 0; i < clicks; i++) {
    await feed.all('button')[0].onclick();
    show();
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
