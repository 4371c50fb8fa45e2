// How an operation is described in the generated table, and what every call can be given.

export interface Word {
  argument: string;
  /** The word that is put before the argument in a batch. Such an argument is optional. */
  keyword?: string;
  /** In a batch, the operation takes one or more of these. */
  many?: boolean;
  /** The keyword alone says that the argument is true. */
  flag?: boolean;
  /** The argument is any value, and its word is the JSON of it. */
  json?: boolean;
}

export interface Operation {
  name: string;
  /** Null if the operation has no route of its own: then it is always sent in a batch. */
  method: string | null;
  path: string | null;
  query: string[];
  body: string[];
  /** Its arguments in a batch; null if it cannot be sent in a batch. */
  words: Word[] | null;
  /** The route takes a single item where a batch takes many, and answers without an array. */
  one: boolean;
  /** Whether it is harmless to send it again: always, never, or if it has a token. */
  repeat: string;
}

export interface CallOptions {
  /** Ends the call. Whether the server has applied it is then not known. */
  signal?: AbortSignal | undefined;
  /** How long the call may take with all its retries. */
  deadlineMs?: number | undefined;
  /** False: the call gets a request of its own. */
  batch?: boolean | undefined;
}

export type Arguments = Record<string, unknown>;

/** No value, a flag that is not set, or an empty list: then the keyword is not sent either. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === false || (Array.isArray(value) && value.length === 0);
}

/** The words of an operation in a batch. */
export function wordsOf(operation: Operation, args: Arguments): string[] {
  const words = [operation.name];
  for (const { argument, keyword, flag, json } of operation.words ?? []) {
    const value = args[argument];
    if (keyword !== undefined && isAbsent(value)) continue;
    if (keyword !== undefined) words.push(keyword);
    if (flag) continue;
    if (json) words.push(JSON.stringify(value));
    else if (Array.isArray(value)) words.push(...value.map(String));
    else words.push(String(value));
  }
  return words;
}

/** A batch answers about many items even if it was asked about one. */
export function fromBatch(operation: Operation, result: Record<string, unknown>): unknown {
  if (!operation.one) return result;
  if (Array.isArray(result["set"])) return { set: result["set"][0] };
  if (Array.isArray(result["items"])) return result["items"][0];
  return result;
}
