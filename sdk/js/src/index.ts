export { Laud, type LaudOptions } from "./client.js";
export { LaudError } from "./errors.js";
export { systemClock, makeToken, type Clock } from "./clock.js";
export type { RetryOptions } from "./retry.js";
export type { BatchOptions } from "./batch.js";
export type { LiveListener, LiveOptions, LiveSubscription } from "./live.js";
export type { CommentEvent, CommentListener, LiveCard } from "./live_comments.js";
export { Reactions, type ReactionView, type ReactionsOptions } from "./reactions.js";
export { OwnReactions, type OwnListener, type OwnOptions } from "./own.js";
export {
  MemoryStore,
  type OwnChange,
  type OwnEntry,
  type OwnRecord,
  type OwnStore,
  type OwnWrite,
} from "./own_store.js";
export { IndexedDbStore } from "./own_indexeddb.js";
export type { CallOptions, Operation } from "./operation.js";
export type { TransportOptions } from "./transport.js";
export * from "./generated.js";
