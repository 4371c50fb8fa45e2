// The copy in the browser: one database for each server, with the records of users and their reactions.
//   users      key: user                  value: OwnRecord
//   reactions  key: [user, kind, item]    value: OwnEntry
// A write checks the session and changes both in one transaction, so a tab that is closed in between
// does no harm.
import type { OwnEntry, OwnRecord, OwnStore, OwnWrite } from "./own_store.js";

const VERSION = 1;

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function ended(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("the transaction was aborted"));
  });
}

/** All reactions of a user: an array is greater than any string. */
const all = (user: string): IDBKeyRange => IDBKeyRange.bound([user], [user, []]);

export class IndexedDbStore implements OwnStore {
  private constructor(private readonly database: IDBDatabase) {
    // Another tab wants to change the layout or to delete the database.
    database.onversionchange = () => database.close();
  }

  static async open(name: string): Promise<IndexedDbStore> {
    const request = indexedDB.open(name, VERSION);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("users");
      request.result.createObjectStore("reactions");
    };
    return new IndexedDbStore(await result(request));
  }

  async load(user: string, fresh: OwnRecord): Promise<{ record: OwnRecord; entries: OwnEntry[] }> {
    const { users, reactions, end } = this.begin("readwrite");
    let record = (await result(users.get(user))) as OwnRecord | undefined;
    if (record === undefined) {
      record = fresh;
      users.put(fresh, user);
    }
    const entries = (await result(reactions.getAll(all(user)))) as OwnEntry[];
    await end;
    return { record, entries };
  }

  async record(user: string): Promise<OwnRecord | undefined> {
    return (await result(this.begin("readonly").users.get(user))) as OwnRecord | undefined;
  }

  async write(user: string, session: string, write: OwnWrite): Promise<boolean> {
    const { users, reactions, end } = this.begin("readwrite");
    const record = (await result(users.get(user))) as OwnRecord | undefined;
    if (record === undefined || record.session !== session) return false;
    if (write.empty === true) reactions.delete(all(user));
    for (const { kind, item, time, set } of write.changes) {
      if (set) reactions.put({ kind, item, time }, [user, kind, item]);
      else reactions.delete([user, kind, item]);
    }
    for (const { kind, item } of write.drop ?? []) reactions.delete([user, kind, item]);
    users.put({ ...record, ...write.record }, user);
    await end;
    return true;
  }

  async remove(user: string): Promise<void> {
    const { users, reactions, end } = this.begin("readwrite");
    users.delete(user);
    reactions.delete(all(user));
    await end;
  }

  close(): void {
    this.database.close();
  }

  private begin(mode: IDBTransactionMode): {
    users: IDBObjectStore;
    reactions: IDBObjectStore;
    end: Promise<void>;
  } {
    const transaction = this.database.transaction(["users", "reactions"], mode);
    const end = ended(transaction);
    end.catch(() => undefined); // whoever needs to know awaits it
    return { users: transaction.objectStore("users"), reactions: transaction.objectStore("reactions"), end };
  }
}
