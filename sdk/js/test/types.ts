// What a program that uses the package must be able to write, and what its compiler must refuse.
import { Laud, LaudError, type ReactionView } from "laud-client";
const laud = new Laud({ url: "http://x", retry: { attempts: 2 }, live: { streams: 1 } });
const one: boolean = (await laud.reacted({ user: "1", kind: "like", item: "v:1" })).set;
const many: boolean[] = (await laud.liked({ user: "1", items: ["v:1"] })).set;
const cursor: string | null | undefined = (await laud.likers({ item: "v:1", cursor: undefined })).cursor;
// @ts-expect-error a user is missing
await laud.like({ item: "v:1" });
// @ts-expect-error ids are strings
await laud.like({ user: 1, item: "v:1" });
// @ts-expect-error there is no such window
await laud.top({ type: "v", counter: "like", window: "year" });
const view: ReactionView = await laud.reactionsOf("1").like("v:1");
export { one, many, cursor, view, LaudError };
