// A small subset of Markdown, as elements. The text comes from other people: every piece of it becomes a text
// node, never markup, and a link gets only an address that begins with http:, https: or mailto:. There are
// no images and no HTML.
//
//   **bold**  *italic*  ~~deleted~~  `code`  [label](address)  https://address  \* (no emphasis)
//   > quotation      - list      1. numbered list      ``` code ```

const DEPTH_MOST = 3; // quotations in quotations, emphasis in emphasis
const SCHEMES = ["http:", "https:", "mailto:"];
const PUNCTUATION = /[!-/:-@[-`{-~]/;

export function markdown(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  appendBlocks(fragment, text.replace(/\r\n?/g, "\n").split("\n"), 0);
  return fragment;
}

function make<Name extends keyof HTMLElementTagNameMap>(name: Name, parent: Node): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  parent.appendChild(element);
  return element;
}

// Blocks

interface Block {
  begins: RegExp;
  /** Appends the block that begins at this line, and returns the line after it. */
  append(parent: Node, lines: string[], at: number, depth: number): number;
}

const BLOCKS: Block[] = [
  { begins: /^\s*$/, append: (_parent, _lines, at) => at + 1 },
  { begins: /^```/, append: appendCode },
  { begins: /^ {0,3}>/, append: appendQuotation },
  { begins: /^[-*] \S/, append: (parent, lines, at) => appendList(make("ul", parent), lines, at, /^[-*] /) },
  {
    begins: /^\d{1,9}[.)] \S/,
    append: (parent, lines, at) => appendList(make("ol", parent), lines, at, /^\d{1,9}[.)] /),
  },
];

function appendBlocks(parent: Node, lines: string[], depth: number): void {
  let at = 0;
  while (at < lines.length) {
    const block = blockAt(lines, at, depth);
    at = block ? block.append(parent, lines, at, depth) : appendParagraph(parent, lines, at, depth);
  }
}

function blockAt(lines: string[], at: number, depth: number): Block | undefined {
  const found = BLOCKS.find(({ begins }) => begins.test(lines[at] ?? ""));
  return found?.append === appendQuotation && depth >= DEPTH_MOST ? undefined : found;
}

function appendParagraph(parent: Node, lines: string[], at: number, depth: number): number {
  const paragraph = make("p", parent);
  let end = at;
  do {
    if (end > at) make("br", paragraph);
    appendInline(paragraph, lines[end] ?? "", 0);
    end++;
  } while (end < lines.length && blockAt(lines, end, depth) === undefined);
  return end;
}

function appendCode(parent: Node, lines: string[], at: number): number {
  let end = at + 1;
  while (end < lines.length && !/^```\s*$/.test(lines[end] ?? "")) end++;
  const pre = make("pre", parent);
  pre.tabIndex = 0; // it can be scrolled by keyboard
  make("code", pre).textContent = lines.slice(at + 1, end).join("\n");
  return end + 1;
}

function appendQuotation(parent: Node, lines: string[], at: number, depth: number): number {
  let end = at;
  while (end < lines.length && /^ {0,3}>/.test(lines[end] ?? "")) end++;
  const inner = lines.slice(at, end).map((line) => line.replace(/^ {0,3}> ?/, ""));
  appendBlocks(make("blockquote", parent), inner, depth + 1);
  return end;
}

function appendList(list: HTMLElement, lines: string[], at: number, bullet: RegExp): number {
  let end = at;
  while (end < lines.length && bullet.test(lines[end] ?? "")) {
    appendInline(make("li", list), (lines[end] ?? "").replace(bullet, ""), 0);
    end++;
  }
  return end;
}

// Text within a line

const EMPHASES: Array<[string, "strong" | "em" | "del"]> = [
  ["**", "strong"],
  ["~~", "del"],
  ["*", "em"],
];

interface Found {
  node: Node;
  end: number;
}

class Line {
  /** Signs that do not occur any more; without this, a line of thousands of them would be searched each time. */
  private readonly missing = new Set<string>();

  constructor(
    readonly text: string,
    private readonly depth: number,
  ) {}

  appendTo(parent: Node): void {
    let plain = "";
    const flush = (): void => {
      if (plain !== "") parent.appendChild(document.createTextNode(plain));
      plain = "";
    };
    let at = 0;
    while (at < this.text.length) {
      const found = this.escaped(at) ?? this.code(at) ?? this.link(at) ?? this.address(at) ?? this.emphasis(at);
      if (found === undefined) {
        plain += this.text[at++];
      } else {
        flush();
        parent.appendChild(found.node);
        at = found.end;
      }
    }
    flush();
  }

  private find(sign: string, from: number): number {
    if (this.missing.has(sign)) return -1;
    const at = this.text.indexOf(sign, from);
    if (at < 0) this.missing.add(sign);
    return at;
  }

  private escaped(at: number): Found | undefined {
    const next = this.text[at + 1];
    if (this.text[at] !== "\\" || next === undefined || !PUNCTUATION.test(next)) return undefined;
    return { node: document.createTextNode(next), end: at + 2 };
  }

  private code(at: number): Found | undefined {
    const end = this.text[at] === "`" ? this.find("`", at + 1) : -1;
    if (end <= at + 1) return undefined;
    const node = document.createElement("code");
    node.textContent = this.text.slice(at + 1, end);
    return { node, end: end + 1 };
  }

  private link(at: number): Found | undefined {
    if (this.text[at] !== "[") return undefined;
    const middle = this.find("](", at + 1);
    const end = middle < 0 ? -1 : this.find(")", middle);
    if (end < 0 || middle === at + 1) return undefined;
    return linkTo(this.text.slice(middle + 2, end), this.text.slice(at + 1, middle), end + 1);
  }

  private address(at: number): Found | undefined {
    if (this.text[at] !== "h" || /\w/.test(this.text[at - 1] ?? " ")) return undefined;
    const found = /^https?:\/\/[^\s<>"'`，。；：！？、（）《》「」]{1,2000}/.exec(this.text.slice(at, at + 2010))?.[0];
    const address = found?.replace(/[.,;:!?)\]*]+$/, "");
    return address === undefined ? undefined : linkTo(address, address, at + address.length);
  }

  private emphasis(at: number): Found | undefined {
    if (this.depth >= DEPTH_MOST) return undefined;
    for (const [sign, name] of EMPHASES) {
      if (!this.text.startsWith(sign, at) || /\s/.test(this.text[at + sign.length] ?? " ")) continue;
      const end = this.find(sign, at + sign.length + 1);
      if (end < 0) continue;
      const node = document.createElement(name);
      appendInline(node, this.text.slice(at + sign.length, end), this.depth + 1);
      return { node, end: end + sign.length };
    }
    return undefined;
  }
}

function appendInline(parent: Node, text: string, depth: number): void {
  new Line(text, depth).appendTo(parent);
}

/** The address of a link, or undefined if it is none that may be followed. */
export function safeAddress(text: string): string | undefined {
  try {
    const url = new URL(text);
    return SCHEMES.includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined; // a relative address would be one of the site itself
  }
}

function linkTo(text: string, label: string, end: number): Found | undefined {
  const address = safeAddress(text);
  if (address === undefined) return undefined;
  const node = document.createElement("a");
  node.href = address;
  node.textContent = label;
  node.target = "_blank";
  node.rel = "nofollow ugc noopener noreferrer";
  return { node, end };
}
