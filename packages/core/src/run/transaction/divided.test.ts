import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gatewayError } from "../../error.ts";
import type { Dialect } from "../../sql/dialect.ts";
import type { DoneEvent, ResultEvent } from "../../query/event.ts";
import type { Pin } from "../../query/pin.ts";
import { err, ok } from "../../result.ts";
import type { Division } from "../../sql/session/statement.ts";
import { runQuery } from "../run.ts";
import { planeOf, queryOf, type Execute, type TestPlane } from "../rig/plane.ts";

const zero = { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 };
const done: DoneEvent = { kind: "done", stats: zero };

/** `broken` fails, and `dead` fails and leaves nothing that goes on; all else goes well. */
function engineOf() {
  const state = { alive: true, begins: true };
  const execute: Execute = async function* ({ engineSql }) {
    if (engineSql.includes("dead")) state.alive = false;
    const failing = /broken|dead/.test(engineSql);
    yield failing ? { kind: "failed", error: gatewayError("query.data") } : done;
  };
  const transactions = { goesOn: () => state.alive, begins: () => state.begins };
  const plane = planeOf({ clusters: { main: execute }, transactions });
  return { plane, state };
}

const change = "insert into t";
const read = "select 1";
const set = "savepoint a";
const back = "rollback to a";
const refused = "failed query.unsupported";

/** What is said after BEGIN, what the way back answers, the lanes' story, and the state that remains. */
const ways: readonly (readonly [
  says: string,
  answer: string,
  lane: "same" | "anew",
  state: Pin["state"],
])[] = [
  [`${set}; ${read}`, "done", "same", "open"],
  [`${change}; ${set}; ${read}`, "done", "same", "open"],
  [`${change}; ${set}; broken`, "done", "same", "open"],
  [`${change}; ${set}; insert broken`, "done", "same", "open"],
  [`${set}; ${change}`, "done", "anew", "open"],
  [`${read}; ${set}; ${change}; broken`, "done", "anew", "open"],
  [`${set}; select dead`, "done", "anew", "open"],
  [`${set}; insert dead`, "done", "anew", "open"],
  [`${change}; ${set}; ${change}`, refused, "same", "aborted"],
  [`${change}; ${set}; select dead`, refused, "same", "aborted"],
  [`${change}; ${set}; insert dead`, refused, "same", "aborted"],
  [`${change}; ${set}; ${change}; insert broken`, refused, "same", "aborted"],
  [`${set}; savepoint b; ${read}`, "done", "same", "open"],
  [`${set}; release b`, "done", "same", "open"],
  [`${set}; release a`, "failed query.invalid", "same", "aborted"],
  ["", "failed query.invalid", "same", "aborted"],
];

describe("PREPARE TRANSACTION", () => {
  it("commits nothing in an engine that has no such thing", async () => {
    const { plane } = engineOf();
    const pin = await beginOn(plane);
    expect(await last(plane, "prepare transaction 'a'", pin)).toBe(refused);
    expect(pin.state).toBe("aborted");
    await pin.end();
    expect(plane.lanes).not.toContain("commit");
  });
});

describe("ROLLBACK TO", () => {
  it.each(ways)("after BEGIN; %s is %s, on the %s lane, and leaves it %s", async (...way) => {
    const [says, answer, lane, remains] = way;
    const { plane, state } = engineOf();
    const pin = await beginOn(plane);
    for (const sql of says.split("; ").filter((text) => text !== "")) await last(plane, sql, pin);
    expect(await last(plane, back, pin)).toBe(answer);
    const anew = lane === "anew";
    expect(plane.lanes).toEqual(anew ? ["begin main", "closed", "begin main"] : ["begin main"]);
    expect(pin.state).toBe(remains);
    // A transaction that was begun anew goes on, whatever the one before came to.
    if (anew) state.alive = true;
    // What there is of a savepoint is still there, and nothing has changed since.
    expect(await last(plane, back, pin)).toBe(answer);
    await pin.end();
    expect(plane.slots.size).toBe(0);
  });

  it("begins nothing anew where the client must not see what others did meanwhile", async () => {
    for (const [begin, says, answer] of [
      ["begin isolation level serializable", `${read}; ${set}; ${change}`, refused],
      ["begin isolation level serializable", `${set}; ${change}`, "done"],
      ["begin isolation level read committed", `${read}; ${set}; ${change}`, "done"],
    ] as const) {
      const { plane } = engineOf();
      const pin = await beginOn(plane, begin);
      for (const sql of says.split("; ")) await last(plane, sql, pin);
      expect(await last(plane, back, pin)).toBe(answer);
      await pin.end();
    }
  });

  it("ends the transaction when no other can be begun", async () => {
    const { plane, state } = engineOf();
    const pin = await beginOn(plane);
    await last(plane, set, pin);
    await last(plane, change, pin);
    state.begins = false;
    expect((await allOf(plane, back, pin)).map(shown)).toEqual([
      "session unpinned",
      "failed cluster.connectFailed",
    ]);
    expect(plane.slots.size).toBe(0);
  });
});

/** The same where the engine can not be asked whether it goes on. */
const blindWays: typeof ways = [
  [`${change}; ${set}`, "done", "same", "open"],
  [`${change}; ${set}; ${read}`, "done", "same", "open"],
  [`${change}; ${set}; select count(*) from t where a in (1)`, "done", "same", "open"],
  [`${change}; ${set}; ${read}; savepoint b; release b`, "done", "same", "open"],
  [`${set}; ${change}`, "done", "anew", "open"],
  [`${set}; broken`, "done", "anew", "open"],
  [`${read}; ${set}; ${change}`, refused, "same", "aborted"],
  [`${read}; ${set}; select broken`, refused, "same", "aborted"],
  [`${read}; ${set}; select f (1)`, refused, "same", "aborted"],
  [`${read}; ${set}; select "my".count(1)`, refused, "same", "aborted"],
  [`${read}; ${set}; select f -- .\n(1)`, refused, "same", "aborted"],
  [`${read}; ${set}; select f(1); ${read}`, refused, "same", "aborted"],
];

describe("ROLLBACK TO on an engine that can not be asked", () => {
  it.each(blindWays)("after BEGIN; %s is %s, on the %s lane, and leaves it %s", async (...way) => {
    const [says, answer, lane, remains] = way;
    const plane = planeOf({
      clusters: {
        main: async function* ({ engineSql }) {
          const failing = engineSql.includes("broken");
          yield failing ? { kind: "failed", error: gatewayError("query.data") } : done;
        },
      },
    });
    const pin = await beginOn(plane);
    for (const sql of says.split("; ")) await last(plane, sql, pin);
    expect(await last(plane, back, pin)).toBe(answer);
    expect(plane.lanes.length).toBe(lane === "anew" ? 3 : 1);
    expect(pin.state).toBe(remains);
    expect(await last(plane, back, pin)).toBe(answer);
    await pin.end();
    expect(plane.slots.size).toBe(0);
  });
});

describe("whatever is said in a transaction", () => {
  const words =
    "savepoint a,savepoint b,release a,release b,rollback to a,rollback to b,insert,insert,select,select broken,insert broken,insert dead,insert lost,select dead,insert left,commit and chain,rollback and chain".split(
      ",",
    );

  it("leaves after each way back what was there at the savepoint, and nothing of a rollback", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...words), { maxLength: 25 }), async (said) => {
        const engine = new FakeEngine();
        const pin = await beginOn(engine.plane);
        const points: { name: string; rows: string }[] = [];
        for (const sql of said) {
          if (pin.state === "ended") break;
          const answer = sql.includes("left")
            ? await leaveEarly(engine.plane, sql, pin)
            : await last(engine.plane, sql, pin);
          if (answer !== "done") continue;
          const [word = "", second = "", third = ""] = sql.split(" ");
          if (word === "savepoint") points.push({ name: second, rows: engine.rows.join() });
          if (second === "and") points.length = 0;
          if (word === "release") points.length = lastOf(points, second);
          if (second !== "to") continue;
          points.length = lastOf(points, third) + 1;
          expect(engine.rows.join()).toBe(points.at(-1)?.rows);
          expect(engine.alive).toBe(true);
        }
        await pin.end();
        expect(engine.plane.slots.size).toBe(0);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("SAVEPOINT and RELEASE", () => {
  it("take the latest of a name and drop what stands behind it", async () => {
    const { plane } = engineOf();
    const pin = await beginOn(plane);
    for (const sql of [set, change, set, "savepoint b", "release savepoint a"]) {
      expect(await last(plane, sql, pin)).toBe("done");
    }
    expect(await last(plane, "release b", pin)).toBe("failed query.invalid");
    expect(await last(plane, back, pin)).toBe("done");
    expect(plane.lanes).toEqual(["begin main", "closed", "begin main"]);
    await pin.end();
  });

  it("are refused in a transaction that failed, and outside", async () => {
    const { plane } = engineOf();
    const pin = await beginOn(plane);
    await last(plane, "broken", pin);
    expect(await last(plane, set, pin)).toBe("failed query.transactionAborted");
    expect(await last(plane, "release a", pin)).toBe("failed query.transactionAborted");
    await pin.end();

    for (const sql of [set, "release a", back]) {
      expect(await last(plane, sql)).toBe("failed query.transaction");
    }
    expect(await last(plane, "savepoint", pin)).toMatch(/^failed/);
  });

  it("are the engine's own where it has them, whatever changed", async () => {
    const told: string[] = [];
    const transactions = {
      goesOn: () => false,
      begins: () => true,
      divide: async ({ kind, name }: Division) => {
        told.push(`${kind} ${name}`);
        return name === "dead" ? err(gatewayError("engine.broken")) : ok(undefined);
      },
    };
    const execute: Execute = async function* ({ engineSql }) {
      yield engineSql.includes("broken")
        ? { kind: "failed", error: gatewayError("query.data") }
        : done;
    };
    const plane = planeOf({ clusters: { main: execute }, transactions });
    const pin = await beginOn(plane);
    for (const sql of [change, set, change, "broken", back, change, "release a"]) {
      expect([sql, await last(plane, sql, pin)]).toEqual([
        sql,
        sql === "broken" ? "failed query.data" : "done",
      ]);
    }
    expect(told).toEqual(["savepoint a", "rollbackToSavepoint a", "releaseSavepoint a"]);
    expect(await last(plane, back, pin)).toBe("failed query.invalid");
    expect(told).toHaveLength(3);
    expect(pin.state).toBe("aborted");
    expect(plane.lanes).toEqual(["begin main"]);
    await pin.end();

    const other = await beginOn(plane);
    expect(await last(plane, "savepoint dead", other)).toBe("failed engine.broken");
    expect(other.state).toBe("aborted");
    await other.end();
  });

  it("are limited in number", async () => {
    const { plane } = engineOf();
    const pin = await beginOn(plane);
    for (let index = 0; index < 1000; index += 1) await last(plane, set, pin);
    expect(await last(plane, set, pin)).toBe("failed query.invalid");
    await pin.end();
  });

  it("mean nothing outside of a transaction of other clients, who have no way back then", async () => {
    const { plane } = engineOf();
    expect(await last(plane, set, undefined, "mysql")).toBe("done");
    expect(await last(plane, back, undefined, "duckdb")).toBe("failed query.invalid");
  });
});

describe("COMMIT AND CHAIN", () => {
  it("commits and begins the next one in the same slot, with nothing of the last", async () => {
    const { plane } = engineOf();
    const pin = await beginOn(plane);
    await last(plane, set, pin);
    expect((await allOf(plane, "commit and chain", pin)).map(shown)).toEqual([
      "session chained",
      "done",
    ]);
    expect(plane.lanes).toEqual(["begin main", "commit", "closed", "begin main"]);
    expect(pin.state).toBe("open");
    expect(await last(plane, back, pin)).toBe("failed query.invalid");
    expect((await allOf(plane, "rollback and chain", pin)).map(shown)).toEqual([
      "session chained",
      "done",
    ]);
    expect(pin.state).toBe("open");
    expect((await allOf(plane, "commit and no chain", pin)).map(shown)).toEqual([
      "session unpinned",
      "done",
    ]);
    expect(plane.slots.size).toBe(0);
  });

  it("is refused where nothing was begun", async () => {
    const { plane } = engineOf();
    expect(await last(plane, "commit and chain")).toBe("failed query.transaction");
  });
});

/** Keeps rows as a transaction would. `lost` changes something and says that it failed; `left` is not read to its end. */
class FakeEngine {
  rows: string[] = [];
  alive = true;
  #doubtful = false;
  #count = 0;
  readonly plane: TestPlane;

  constructor() {
    const transactions = {
      goesOn: () => this.alive && !this.#doubtful,
      begins: () => {
        this.rows = [];
        this.alive = true;
        return true;
      },
    };
    this.plane = planeOf({ clusters: { main: this.#execute() }, transactions });
  }

  #execute(): Execute {
    const run = ({ engineSql: sql }: { readonly engineSql: string }) => this.#run(sql);
    return async function* (query) {
      const went = run(query);
      if (query.engineSql.includes("left")) {
        yield { kind: "notice", code: "half", text: "" };
      }
      yield went ? done : { kind: "failed", error: gatewayError("query.data") };
    };
  }

  #run(sql: string): boolean {
    if (!this.alive) return false;
    this.#doubtful = sql.includes("lost") || sql.includes("left");
    if (sql.includes("dead")) this.alive = false;
    if (/broken|dead/.test(sql)) return false;
    if (sql.startsWith("insert")) this.rows.push(String((this.#count += 1)));
    return !sql.includes("lost");
  }
}

function lastOf(points: readonly { readonly name: string }[], name: string): number {
  return points.findLastIndex((point) => point.name === name);
}

/** The client has enough after the first event. */
async function leaveEarly(plane: TestPlane, sql: string, pin: Pin): Promise<string> {
  const stream = runQuery(queryOf(sql, { pin }), plane, new AbortController().signal);
  for await (const event of stream) if (event.kind === "notice") break;
  return "left";
}

async function allOf(
  plane: TestPlane,
  sql: string,
  pin?: Pin,
  dialect: Dialect = "postgres",
): Promise<ResultEvent[]> {
  const events: ResultEvent[] = [];
  const query = queryOf(sql, { pin, dialect });
  const stream = runQuery(query, plane, new AbortController().signal);
  for await (const event of stream) if (event.kind !== "progress") events.push(event);
  return events;
}

async function last(
  plane: TestPlane,
  sql: string,
  pin?: Pin,
  dialect?: Dialect,
): Promise<string | undefined> {
  return (await allOf(plane, sql, pin, dialect)).map(shown).at(-1);
}

async function beginOn(plane: TestPlane, sql = "BEGIN"): Promise<Pin> {
  for (const event of await allOf(plane, sql)) {
    if (event.kind === "session" && event.change.kind === "pinned") return event.change.pin;
  }
  throw new Error("BEGIN made no pin");
}

function shown(event: ResultEvent): string {
  if (event.kind === "session") return `session ${event.change.kind}`;
  return event.kind === "failed" ? `failed ${event.error.code}` : event.kind;
}
