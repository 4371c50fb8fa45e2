// What the widgets of a page share: a client for each server, and the reactions of the user.
import { Laud } from "../client.js";
import type { LiveSubscription } from "../live.js";
import type { Reactions, ReactionView } from "../reactions.js";

const clients = new Map<string, Laud>();
let given: Laud | undefined;

/** All widgets use this client from now on, in place of one for the address in their attribute `server`. */
export function useClient(laud: Laud | undefined): void {
  given = laud;
}

/**
 * The client for an address. It sends every call as a request of its own and with the site's cookies, so that
 * the site's proxy can see whose request it is, and put the user's id where it belongs.
 */
export function clientFor(server: string): Laud {
  if (given !== undefined) return given;
  const url = new URL(server, document.baseURI).href;
  let laud = clients.get(url);
  if (laud === undefined) {
    laud = new Laud({ url, batch: false });
    clients.set(url, laud);
  }
  return laud;
}

/** The reactions of one user of one server. Those who ask in the same tick share one request. */
export class Votes {
  readonly reactions: Reactions;
  private wanted = new Map<string, Set<string>>();

  constructor(laud: Laud, user: string) {
    this.reactions = laud.reactionsOf(user);
  }

  subscribe(kind: string, item: string, listener: (view: ReactionView) => void): () => void {
    return this.reactions.subscribe(kind, item, listener);
  }

  /** Keeps the count up to date. Where too many items are watched, the count stays as it was loaded. */
  watch(kind: string, item: string): LiveSubscription {
    try {
      return this.reactions.watch([item], [kind]);
    } catch {
      return { close: () => undefined };
    }
  }

  async load(kind: string, item: string): Promise<void> {
    const kinds = this.wanted.get(item) ?? new Set();
    this.wanted.set(item, kinds.add(kind));
    await Promise.resolve();
    if (this.wanted.size === 0) return; // another one has sent the request of this tick
    const all = this.wanted;
    this.wanted = new Map();
    await this.reactions.load([...all.keys()], [...new Set([...all.values()].flatMap((one) => [...one]))]);
  }
}

const votes = new WeakMap<Laud, Map<string, Votes>>();

export function votesOf(laud: Laud, user: string): Votes {
  const users = votes.get(laud) ?? new Map<string, Votes>();
  votes.set(laud, users);
  let found = users.get(user);
  if (found === undefined) {
    found = new Votes(laud, user);
    users.set(user, found);
  }
  return found;
}

/** Who a user is. The site knows; the server has only ids. */
export interface Profile {
  name: string;
  /** Where the name leads to. */
  url?: string | undefined;
  /** The address of a picture. */
  avatar?: string | undefined;
}

export type ProfileSource = (users: string[]) => Promise<Record<string, Profile>> | Record<string, Profile>;
