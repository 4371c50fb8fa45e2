// The one class of error. Codes in capital letters come from the server (docs/api.md); those that the
// client makes itself have status 0:
//   NETWORK     there was no answer
//   TIMEOUT     the deadline of the call has passed
//   ABORTED     the caller's AbortSignal ended the call
//   BAD_ANSWER  the answer is not what Laud sends; a proxy or another server may be in between
//   TOO_MANY_ITEMS, CLOSED  a limit of the client, or an object that was closed

export interface ErrorDetails {
  status?: number;
  retryAfter?: number | undefined;
  cause?: unknown;
}

export class LaudError extends Error {
  override readonly name = "LaudError";
  readonly code: string;
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** After how many seconds the server wants to be asked again. */
  readonly retryAfter: number | undefined;

  constructor(code: string, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status ?? 0;
    this.retryAfter = details.retryAfter;
  }

  /** True if the server may have applied the operation although the call failed. */
  get uncertain(): boolean {
    return this.status === 0
      ? UNCERTAIN.has(this.code)
      : this.code === "READONLY" || this.status === 502 || this.status === 504;
  }
}

const UNCERTAIN = new Set(["NETWORK", "TIMEOUT", "ABORTED", "BAD_ANSWER"]);

// The results of a batch have codes but no statuses. src/base/status.def of the server has this table.
const STATUS_OF: Record<string, number> = {};
const CODES: Array<[number, string]> = [
  [400, "BAD_ARITY BAD_ARGUMENT BAD_JSON"],
  [401, "NO_AUTH WRONG_TOKEN"],
  [403, "NO_PERMISSION BANNED SUBJECT_READONLY SUBJECT_CLOSED NOT_AUTHOR"],
  [404, "UNKNOWN_COMMAND NOT_FOUND NO_COMMENT"],
  [409, "COMMENT_DELETED COMMENT_REPEATED COMMENT_NOT_OPEN PINS_FULL"],
  [410, "START_OVER"],
  [
    422,
    "ANSWER_TOO_LARGE TOO_MANY_ITEMS NOT_A_KIND NOT_A_COUNTER TABLE_FULL NAME_NOT_LISTED COUNTER_OVERFLOW TOO_MANY_FOLLOWEES " +
      "NOT_A_ROOT NO_THREAD_ORDER TEXT_TOO_LONG BANS_FULL",
  ],
  [429, "LIMITED"],
  [500, "IO_FAILED DAMAGED"],
  [501, "NO_STORE BOARD_OFF NO_BOARDS NO_WINDOWS"],
  [
    503,
    "NO_MEMORY TREND_REFUSED SHELVES_FULL TOKENS_FULL TOO_BUSY LAGGING BOARD_COUNTING STOPPING READONLY STORE_FAILED " +
      "DISK_FULL CLOCK_WRONG CLOCK_UNWRITTEN TIMES_USED_UP NO_FILES NO_COMMENT_TIME",
  ],
];
for (const [status, codes] of CODES) for (const code of codes.split(" ")) STATUS_OF[code] = status;

// These last until the server is restarted, so waiting does not help.
const LASTING = new Set(["READONLY", "STORE_FAILED", "TIMES_USED_UP"]);

export function isRetryable(error: LaudError): boolean {
  if (error.status === 0) return error.code === "NETWORK";
  if (error.retryAfter !== undefined) return error.status === 429 || error.status === 503;
  return [429, 502, 503, 504].includes(error.status) && !LASTING.has(error.code);
}

interface ErrorBody {
  error?: { code?: unknown; message?: unknown };
}

/** The error of one operation in a batch, or undefined if the result is none. */
export function errorInBatch(result: unknown): LaudError | undefined {
  const error = (result as ErrorBody | null)?.error;
  if (error === undefined) return undefined;
  const code = String(error.code);
  const message = String(error.message);
  const wait = code === "LIMITED" ? /(\d+) ms/.exec(message) : null;
  return new LaudError(code, message, {
    status: STATUS_OF[code] ?? 400,
    retryAfter: wait ? Number(wait[1]) / 1000 : undefined,
  });
}

/** The error of an HTTP answer. The body may come from a proxy, which knows nothing of our JSON. */
export function errorOfAnswer(status: number, retryAfter: string | null, body: unknown): LaudError {
  const error = (body as ErrorBody | null)?.error;
  const seconds = retryAfter === null ? NaN : Number(retryAfter);
  return new LaudError(
    typeof error?.code === "string" ? error.code : `HTTP_${status}`,
    typeof error?.message === "string" ? error.message : `the server answered with status ${status}`,
    { status, retryAfter: Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined },
  );
}
