// How the widgets look. They take color and font of the page around them; a site changes the custom properties, or
// the parts (::part). The styles are a constructed sheet, so a policy that forbids inline styles does not matter.

const common = `
:host {
  --_soft: var(--laud-soft, color-mix(in srgb, currentColor 70%, transparent));
  --_line: var(--laud-line, color-mix(in srgb, currentColor 20%, transparent));
  --_back: var(--laud-back, transparent);
  --_field: var(--laud-field, transparent);
  --_accent: var(--laud-accent, light-dark(#0b57a4, #7ab8f5));
  --_accent-text: var(--laud-accent-text, light-dark(#fff, #0d1a26));
  --_liked: var(--laud-liked, light-dark(#c2185b, #ff80ab));
  --_problem: var(--laud-problem, light-dark(#8f2410, #ffa893));
  --_radius: var(--laud-radius, 6px);
  color: var(--laud-text, inherit);
  background: var(--_back);
  font-family: var(--laud-font, inherit);
}
:host([hidden]), [hidden] { display: none !important; }
* { box-sizing: border-box; }
button, textarea, select { font: inherit; color: inherit; }
button { cursor: pointer; background: none; border: 0; padding: .2em .4em; border-radius: var(--_radius); }
button:disabled { opacity: .6; cursor: default; }
:focus-visible { outline: 2px solid var(--_accent); outline-offset: 1px; }
svg { width: 1.1em; height: 1.1em; vertical-align: -.18em; fill: none; stroke: currentColor; stroke-width: 1.8; }
.like[aria-pressed="true"] { color: var(--_liked); }
.like[aria-pressed="true"] svg { fill: currentColor; }
.count { font-variant-numeric: tabular-nums; margin-inline-start: .25em; }
.problem { color: var(--_problem); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;

const like = `
:host { display: inline-block; }
button { border: 1px solid var(--_line); padding: .3em .7em; }
.problem { margin-inline-start: .5em; font-size: .9em; }
`;

const comments = `
:host { display: block; line-height: 1.5; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .5em 1em; margin-bottom: .75em; }
h2 { font-size: 1.15em; margin: 0; flex: 1; }
select, textarea { background: var(--_field); border: 1px solid var(--_soft); border-radius: var(--_radius); padding: .3em .5em; }
textarea { width: 100%; min-height: 5em; resize: vertical; display: block; }
form { margin: 0 0 1em; }
.row { display: flex; flex-wrap: wrap; align-items: center; gap: .4em .75em; margin-top: .4em; }
.hint { flex: 1; font-size: .85em; color: var(--_soft); }
.main { background: var(--_accent); color: var(--_accent-text); padding: .35em 1em; }
.wide { display: block; width: 100%; border: 1px solid var(--_line); padding: .5em; margin: .5em 0; color: var(--_accent); }
ol { list-style: none; margin: 0; padding: 0; }
li.comment { padding: .75em 0; border-top: 1px solid var(--_line); }
li.comment li.comment { padding: .5em 0 .25em; border-top: 0; }
ol.replies { margin-inline-start: 1.25em; padding-inline-start: .9em; border-inline-start: 2px solid var(--_line); }
article { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 .6em; }
.avatar { width: 2.2em; height: 2.2em; border-radius: 50%; object-fit: cover; background: var(--_line); }
.body { grid-column: 2; }
.about { font-size: .9em; }
.about > :not(.name):not(.mark) { color: var(--_soft); }
.about .name { font-weight: 600; }
.about a { color: inherit; }
.mark { border: 1px solid currentColor; border-radius: 1em; padding: 0 .5em; font-size: .85em; color: var(--_accent); }
.text { overflow-wrap: anywhere; }
.text > :first-child { margin-top: .15em; }
.text > :last-child { margin-bottom: .15em; }
.text p, .text ul, .text ol, .text pre, .text blockquote { margin: .4em 0; }
.text ul, .text ol { list-style: revert; padding-inline-start: 1.5em; }
.text blockquote { border-inline-start: 3px solid var(--_line); padding-inline-start: .75em; color: var(--_soft); }
.text pre { overflow-x: auto; padding: .5em; background: color-mix(in srgb, currentColor 8%, transparent); border-radius: var(--_radius); }
.text a { color: var(--_accent); }
.note { color: var(--_soft); font-style: italic; }
.actions { display: flex; flex-wrap: wrap; gap: 0 .25em; margin-inline-start: -.4em; font-size: .9em; color: var(--_soft); }
`;

const sheets = new Map<string, CSSStyleSheet>();

/** Made when the first widget is, because there are no style sheets outside of a page. */
function sheet(text: string): CSSStyleSheet {
  let found = sheets.get(text);
  if (found === undefined) {
    found = new CSSStyleSheet();
    found.replaceSync(text);
    sheets.set(text, found);
  }
  return found;
}

export const stylesOf = (widget: "like" | "comments"): CSSStyleSheet[] => [
  sheet(common),
  sheet(widget === "like" ? like : comments),
];
