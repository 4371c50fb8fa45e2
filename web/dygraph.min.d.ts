// As much of dygraphs as charts.js uses. The library itself is a file of Debian's package libjs-dygraphs,
// which the build embeds.
export interface Plugin {}

export interface Options {
  [option: string]: unknown;
}

export interface Chart {
  updateOptions(options: Options): void;
  resize(): void;
  destroy(): void;
}

export interface DygraphClass {
  new (element: HTMLElement, data: unknown, options: Options): Chart;
  PLUGINS: Plugin[];
  Plugins: { Legend: Plugin };
}

declare global {
  interface Window {
    Dygraph: DygraphClass;
  }
}
