// What is sent again, when, and what is not. Time is the test's own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Laud } from "../dist/index.js";
import { TestClock, lost, refused, scripted, startServer } from "./helper.mjs";

function make(server, script, options = {}) {
  const wire = scripted(script);
  const clock = new TestClock(wire.busy);
  const laud = new Laud({ url: server.url, fetch: wire.fetch, clock, batch: false, ...options });
  return { laud, clock, requests: wire.requests, begin: clock.time };
}

test("retries", async (t) => {
  const server = await startServer(t);

  await t.test("a lost answer: the like is sent again and counts once", async () => {
    const { laud, clock, requests } = make(server, async (_, number, real) => {
      if (number > 2) return undefined;
      await real();
      return lost();
    });
    assert.deepEqual(await clock.settle(laud.like({ user: "1", item: "lost:1" })), {
      changed: false,
      count: 1,
    });
    assert.equal(requests.length, 3);
  });

  await t.test("an addition is sent again with the same token, and is added once", async () => {
    const { laud, clock, requests } = make(server, async (_, number, real) => {
      if (number > 1) return undefined;
      await real();
      return lost();
    });
    assert.deepEqual(await clock.settle(laud.add({ item: "lost:1", counter: "view", delta: 3 })), { value: 3 });
    assert.equal(requests.length, 2);
    assert.match(requests[0].body.token, /^[0-9a-f]{32}$/);
    assert.equal(requests[0].body.token, requests[1].body.token);
  });

  await t.test("an addition without a token is not sent again", async () => {
    const { laud, clock, requests } = make(server, lost, { tokens: false });
    await assert.rejects(clock.settle(laud.add({ item: "lost:2", counter: "view", delta: 3 })), {
      code: "NETWORK",
      status: 0,
      uncertain: true,
    });
    assert.equal(requests.length, 1);
    await assert.rejects(clock.settle(laud.add({ item: "lost:2", counter: "view", delta: 3, token: "mine" })), {
      code: "NETWORK",
    });
    assert.equal(requests.length, 6);
  });

  await t.test(
    "an addition without a token is not put into a batch, which is sent again as a whole",
    async () => {
      const { laud, clock, requests } = make(server, undefined, { tokens: false, batch: {} });
      await clock.settle(
        Promise.all([laud.add({ item: "lost:3", counter: "view", delta: 1 }), laud.names(), laud.names()]),
      );
      assert.deepEqual(requests.map(({ path }) => path).sort(), [
        "/v1/batch",
        "/v1/items/lost:3/counters/view",
      ]);
    },
  );

  await t.test("waits grow to a bound, with jitter", async () => {
    for (const [chance, waits] of [
      [0, [50, 100, 200, 250, 250]],
      [0.5, [75, 150, 300, 375, 375]],
    ]) {
      const { laud, clock } = make(server, lost, { retry: { attempts: 6, mostMs: 500 } });
      clock.chance = chance;
      const times = [];
      const { after } = clock;
      clock.after = (ms, callback) => {
        if (ms < 1000) times.push(ms);
        return after(ms, callback);
      };
      await assert.rejects(clock.settle(laud.names()), { code: "NETWORK" });
      assert.deepEqual(times, waits);
    }
  });

  await t.test("Retry-After is the least wait", async () => {
    for (const status of [429, 503]) {
      const { laud, clock, begin, requests } = make(server, (_, number) =>
        number === 1 ? refused(status, "SOME", 3) : undefined,
      );
      clock.chance = 0;
      await clock.settle(laud.names());
      assert.deepEqual([requests.length, clock.time - begin], [2, 3000]);
    }
  });

  await t.test("a Retry-After beyond the deadline ends the call at once", async () => {
    const { laud, clock, begin, requests } = make(server, () => refused(503, "LAGGING", 60));
    await assert.rejects(clock.settle(laud.names()), { code: "LAGGING", status: 503, retryAfter: 60 });
    assert.deepEqual([requests.length, clock.time - begin], [1, 0]);
  });

  await t.test("what only a restart helps with is not sent again, nor is what is wrong", async () => {
    for (const [status, code] of [
      [503, "READONLY"],
      [503, "STORE_FAILED"],
      [400, "BAD_ARGUMENT"],
      [410, "START_OVER"],
      [500, "DAMAGED"],
    ]) {
      const { laud, clock, requests } = make(server, () => refused(status, code));
      await assert.rejects(clock.settle(laud.names()), { code, status });
      assert.equal(requests.length, 1);
    }
  });

  await t.test("a proxy that says 502, 503 or 504 is asked again", async () => {
    for (const status of [502, 503, 504]) {
      const { laud, clock, requests } = make(server, (_, number) =>
        number < 3 ? new Response("", { status }) : undefined,
      );
      await clock.settle(laud.names());
      assert.equal(requests.length, 3);
    }
  });

  await t.test("one deadline for all attempts, and one limit for each", async () => {
    const { laud, clock, begin, requests } = make(server, () => undefined, {
      fetch: hanging(),
      retry: { attempts: 9, attemptMs: 1000 },
    });
    await assert.rejects(
      clock.settle(laud.names({ deadlineMs: 2500 })),
      (error) => error.code === "TIMEOUT" && error.cause.code === "NETWORK",
    );
    assert.equal(clock.time - begin, 2500);
    assert.equal(requests.length, 0);
  });

  await t.test("an AbortSignal ends a call while it waits, and while it is sent", async () => {
    const { laud, clock, requests } = make(server, lost);
    const controller = new AbortController();
    const { after } = clock;
    clock.after = (ms, callback) => {
      if (ms < 1000) controller.abort("enough");
      return after(ms, callback);
    };
    await assert.rejects(clock.settle(laud.names({ signal: controller.signal })), {
      code: "ABORTED",
      cause: "enough",
    });
    assert.equal(requests.length, 1);
    await assert.rejects(laud.names({ signal: AbortSignal.abort() }), { code: "ABORTED" });
    assert.equal(requests.length, 1, "a signal that was aborted before sends nothing");
    const late = new AbortController();
    const running = new Laud({ url: server.url, fetch: hanging() }).names({ signal: late.signal });
    late.abort();
    await assert.rejects(running, { code: "ABORTED" });
    assert.deepEqual(clock.timers, [], "no timer remains");
  });

  await t.test("a batch that is lost is sent again as a whole", async () => {
    const { laud, clock, requests } = make(
      server,
      async (_, number, real) => {
        if (number > 1) return undefined;
        await real();
        return lost();
      },
      { batch: {} },
    );
    const answers = await clock.settle(
      Promise.all([
        laud.like({ user: "1", item: "whole:1" }),
        laud.add({ item: "whole:1", counter: "view", delta: 1 }),
      ]),
    );
    assert.deepEqual(answers, [{ changed: false }, { value: 1 }]);
    assert.deepEqual(requests[0].body, requests[1].body);
  });

  await t.test("a batch that stays lost is not retried once more by each of its calls", async () => {
    const { laud, clock, requests } = make(server, lost, { batch: {} });
    const results = await clock.settle(Promise.allSettled([laud.names(), laud.names()]));
    assert.deepEqual(
      results.map(({ reason }) => reason.code),
      ["NETWORK", "NETWORK"],
    );
    assert.equal(requests.length, 5);
  });

  await t.test("a batch may take as long as the most patient of its calls", async () => {
    const { laud, clock, begin } = make(server, () => undefined, {
      fetch: hanging(),
      batch: {},
      retry: { attemptMs: Infinity },
    });
    const times = await clock.settle(
      Promise.all(
        [2000, 40_000].map((deadlineMs) =>
          laud.names({ deadlineMs }).catch(({ code }) => [code, clock.time - begin]),
        ),
      ),
    );
    assert.deepEqual(times, [
      ["TIMEOUT", 2000],
      ["TIMEOUT", 40_000],
    ]);
  });

  await t.test("an operation of a batch that is refused for a moment is sent again alone", async () => {
    const { laud, clock, requests } = make(
      server,
      async ({ path }, _, real) => {
        if (path !== "/v1/batch") return undefined;
        const answer = await (await real()).json();
        answer.results[1] = { error: { code: "LIMITED", message: "retry after 250 ms" } };
        return new Response(JSON.stringify(answer));
      },
      { batch: {} },
    );
    clock.chance = 0;
    const begin = clock.time;
    await clock.settle(
      Promise.all([laud.like({ user: "1", item: "again:1" }), laud.like({ user: "2", item: "again:1" })]),
    );
    assert.deepEqual(
      requests.map(({ method }) => method),
      ["POST", "PUT"],
    );
    assert.equal(clock.time - begin, 250);
  });

  await t.test("one aborted call does not end the batch of the others", async () => {
    const wire = scripted();
    const laud = new Laud({ url: server.url, fetch: wire.fetch });
    const controller = new AbortController();
    const gone = assert.rejects(laud.like({ user: "1", item: "half:1" }, { signal: controller.signal }), {
      code: "ABORTED",
    });
    const kept = [laud.like({ user: "2", item: "half:1" }), laud.like({ user: "3", item: "half:1" })];
    controller.abort();
    await gone;
    assert.deepEqual(await Promise.all(kept), [{ changed: true }, { changed: true }]);
    assert.deepEqual(
      wire.requests.map(({ body }) => body.operations.length),
      [2],
    );
  });

  await t.test("rates of a real server: every call is answered in the end", async (inner) => {
    const limited = await startServer(inner, "--limit-user-write", "4/2");
    const statuses = [];
    const wire = scripted(async (_request, _number, real) => {
      const response = await real();
      statuses.push(response.status);
      return response;
    });
    const laud = new Laud({
      url: limited.url,
      fetch: wire.fetch,
      batch: false,
      retry: { attempts: 100, firstMs: 10, deadlineMs: 60_000 },
    });
    await Promise.all([1, 2, 3, 4].map((i) => laud.like({ user: "1", item: `rate:${i}` })));
    assert.equal(statuses.filter((status) => status === 200).length, 4);
    assert.ok(
      statuses.every((status) => status === 200 || status === 429),
      String(statuses),
    );
    assert.equal((await laud.likes({ user: "1", type: "rate" })).items.length, 4);
  });
});

/** A server that takes the request and never answers. */
function hanging() {
  return (_, { signal }) =>
    new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
}
