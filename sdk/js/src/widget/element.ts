// What both widgets have: attributes, a shadow root, a client, and events for the site.
import type { Laud } from "../client.js";
import { LaudError } from "../errors.js";
import { limits } from "../generated.js";
import { clientFor } from "./site.js";
import { stylesOf } from "./style.js";
import { languageOf, translator, type Language, type Translate } from "./text.js";

/** Outside of a page the module can be loaded, but there are no elements. */
const Base: typeof HTMLElement = globalThis.HTMLElement ?? (class {} as unknown as typeof HTMLElement);

export abstract class LaudElement extends Base {
  static readonly observedAttributes: string[] = ["item", "user", "server", "kind", "lang", "orders"];
  protected readonly root: ShadowRoot;
  private planned = false;

  constructor(widget: "like" | "comments") {
    super();
    this.root = this.attachShadow({ mode: "open" });
    this.root.adoptedStyleSheets = stylesOf(widget);
  }

  connectedCallback(): void {
    this.plan();
  }

  disconnectedCallback(): void {
    this.end();
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.plan();
  }

  /** Attributes that change in the same tick make the widget begin again once. */
  protected plan(): void {
    if (this.planned) return;
    this.planned = true;
    queueMicrotask(() => {
      this.planned = false;
      if (!this.isConnected) return;
      this.end();
      if (limits.item.test(this.item)) this.begin();
      else this.root.replaceChildren(`the attribute item must be type:id, got '${this.item}'`);
    });
  }

  /** Shows everything for the present attributes. */
  protected abstract begin(): void;
  /** Ends streams and requests. */
  protected abstract end(): void;

  get item(): string {
    return this.getAttribute("item") ?? "";
  }

  /** The id of the user who looks at the page; undefined: nobody is logged in. */
  get user(): string | undefined {
    return this.getAttribute("user") || undefined;
  }

  protected get laud(): Laud {
    return clientFor(this.getAttribute("server") ?? "/laud");
  }

  protected get language(): Language {
    return languageOf(this);
  }

  protected get texts(): Translate {
    return translator(this.language);
  }

  /** Somebody who is not logged in wants to do something. The site listens and shows its login. */
  protected askLogin(): void {
    this.dispatchEvent(new CustomEvent("laud-login", { bubbles: true, composed: true }));
  }

  /** The site may want to log it; the widget has shown it already. */
  protected report(error: unknown): LaudError {
    const known = error instanceof LaudError ? error : new LaudError("NETWORK", String(error), { cause: error });
    this.dispatchEvent(new CustomEvent("laud-error", { bubbles: true, composed: true, detail: { error: known } }));
    return known;
  }
}
