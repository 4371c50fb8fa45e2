// Builds elements. Every text becomes a text node, never markup.

export type Child = Node | string | false | null | undefined;
type Attribute = string | number | boolean | undefined | ((event: Event) => void);

/** An attribute that is a function is a listener of the event with that name. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, Attribute> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== false && child != null));
  return element;
}

export function button(label: string, pressed: () => void, attributes: Record<string, Attribute> = {}): HTMLButtonElement {
  return h("button", { type: "button", part: "button", click: pressed, ...attributes }, label);
}

/** A heart, or any other shape. Its color is that of the text. */
export function icon(path: string): SVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(space, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

export const HEART =
  "M12 20.5 4.3 12.8a4.9 4.9 0 0 1 0-6.9 4.9 4.9 0 0 1 6.9 0l.8.8.8-.8a4.9 4.9 0 0 1 6.9 0 4.9 4.9 0 0 1 0 6.9z";
