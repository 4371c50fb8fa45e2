// Server-sent events from a stream of bytes.
import { LaudError } from "./errors.js";

/** More than any event of the server: 50 items with all counters there can be. */
const BLOCK_MOST = 4 * 1024 * 1024;

export interface StreamEvent {
  event: string;
  data: string;
  id: string;
  retryMs: number | undefined;
}

/** Takes text as it arrives and gives the blocks that are complete. A comment gives a block without data. */
export class EventParser {
  private text = "";

  push(text: string): StreamEvent[] {
    this.text = (this.text + text).replaceAll("\r\n", "\n");
    const blocks = this.text.split("\n\n");
    this.text = blocks.pop() ?? "";
    if (this.text.length > BLOCK_MOST) throw new LaudError("BAD_ANSWER", "an event of the stream does not end");
    return blocks.map(parseBlock);
  }
}

function parseBlock(block: string): StreamEvent {
  const event: StreamEvent = { event: "message", data: "", id: "", retryMs: undefined };
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    else if (field === "event") event.event = value;
    else if (field === "id") event.id = value;
    else if (field === "retry" && /^\d+$/.test(value)) event.retryMs = Number(value);
  }
  event.data = data.join("\n");
  return event;
}
