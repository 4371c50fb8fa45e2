// What the server answers about comments, as the widget uses it.
import type { Card as AnyCard, Comments, CommentsArguments } from "../generated.js";

/** A comment; or a placeholder, whose text is null. */
export type Card = NonNullable<AnyCard>;
export type Page = Comments;
export type Order = NonNullable<CommentsArguments["by"]>;

/** The comments of a list. CARDS has null for one that is not there, lists have none. */
export const present = (cards: AnyCard[]): Card[] => cards.filter((card): card is Card => card !== null);
