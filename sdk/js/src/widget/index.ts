// The web components. Loading this module defines <laud-like> and <laud-comments>.
import { LaudComments } from "./comments.js";
import { LaudLike } from "./like.js";

export { LaudComments, LaudLike };
export { useClient, type Profile, type ProfileSource } from "./site.js";
export { markdown } from "./markdown.js";

if (typeof customElements !== "undefined") {
  if (customElements.get("laud-like") === undefined) customElements.define("laud-like", LaudLike);
  if (customElements.get("laud-comments") === undefined) customElements.define("laud-comments", LaudComments);
}
