// Where the local copy of a user's reactions is kept. Two implementations: memory (here) and IndexedDB.
//
// Several tabs use the same store at the same time, and a user may log out in any of them. Therefore the
// record of a user has a random session id. Every write names the session that the writer has seen, and a
// write of another session changes nothing: what a logout has removed cannot be written again by a tab that
// has not heard of the logout yet.

export interface OwnEntry {
  kind: string;
  item: string;
  /** When the reaction was set, in seconds since 1970. */
  time: number;
}

export interface OwnChange extends OwnEntry {
  set: boolean;
}

export interface OwnRecord {
  session: string;
  /** The cursor of CHANGES; empty before the first page. */
  cursor: string;
  /** True once a first round has ended: then a reaction that is not in the copy is not set. */
  complete: boolean;
  /** True if old reactions were dropped because of the limit: then one that is not in the copy may be set. */
  dropped: boolean;
  /** When the last round ended, in milliseconds since 1970. */
  synced: number;
}

export interface OwnWrite {
  /** Removes all reactions first. */
  empty?: boolean;
  changes: OwnChange[];
  /** Reactions that the copy has no room for. They may be set all the same. */
  drop?: OwnEntry[];
  record?: Partial<Omit<OwnRecord, "session">>;
}

export interface OwnStore {
  /** The record and the reactions of a user. A user without a record gets the given one. */
  load(user: string, fresh: OwnRecord): Promise<{ record: OwnRecord; entries: OwnEntry[] }>;
  /** The record as it is now; undefined if the user has none. */
  record(user: string): Promise<OwnRecord | undefined>;
  /** Applies all of it or nothing. False: the user has no record of this session, and nothing was changed. */
  write(user: string, session: string, write: OwnWrite): Promise<boolean>;
  /** Removes everything of the user. */
  remove(user: string): Promise<void>;
  close(): void;
}

export const entryKey = (kind: string, item: string): string => `${kind} ${item}`;

/** Keeps the copies of a process; nothing remains after it. */
export class MemoryStore implements OwnStore {
  private readonly users = new Map<string, { record: OwnRecord; entries: Map<string, OwnEntry> }>();

  async load(user: string, fresh: OwnRecord): Promise<{ record: OwnRecord; entries: OwnEntry[] }> {
    let data = this.users.get(user);
    if (data === undefined) {
      data = { record: { ...fresh }, entries: new Map() };
      this.users.set(user, data);
    }
    return { record: { ...data.record }, entries: [...data.entries.values()] };
  }

  async record(user: string): Promise<OwnRecord | undefined> {
    const data = this.users.get(user);
    return data && { ...data.record };
  }

  async write(user: string, session: string, write: OwnWrite): Promise<boolean> {
    const data = this.users.get(user);
    if (data === undefined || data.record.session !== session) return false;
    if (write.empty === true) data.entries.clear();
    for (const { kind, item, time, set } of write.changes) {
      if (set) data.entries.set(entryKey(kind, item), { kind, item, time });
      else data.entries.delete(entryKey(kind, item));
    }
    for (const { kind, item } of write.drop ?? []) data.entries.delete(entryKey(kind, item));
    Object.assign(data.record, write.record);
    return true;
  }

  async remove(user: string): Promise<void> {
    this.users.delete(user);
  }

  close(): void {
    // There is nothing to close: a second copy may use the same store.
  }
}
