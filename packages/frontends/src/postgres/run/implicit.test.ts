import { gatewayError } from "@gateway/core/error.ts";
import { describe, expect, it } from "vitest";
import {
  bindOf,
  cancelOf,
  executeOf,
  fieldsOf,
  flush,
  keyOf,
  letters,
  parseOf,
  queryOf,
  RawClient,
  startupOf,
  sync,
  type Seen,
} from "../rig/rawClient.ts";
import {
  aborted,
  column,
  doneOf,
  eventually,
  resultOf,
  served,
  type Served,
} from "../rig/served.ts";
import { transactional } from "../rig/transaction.ts";

const broken = [{ kind: "failed", error: gatewayError("query.data") }] as const;
const answers = {
  "select 1": resultOf(column("n"), [1n]),
  "insert into t": [doneOf("INSERT", 1)],
  "update t": [doneOf("UPDATE", 2)],
  broken,
};
const descriptions = Object.fromEntries(
  Object.keys(answers).map((sql) => [sql, { parameters: [], columns: [] }]),
);

describe("several statements in one message", () => {
  it.each([
    ["select 1; insert into t", ["select 1", "insert into t"]],
    ["insert into t; select 1", ["BEGIN", "insert into t", "select 1", "COMMIT"]],
    ["insert into t; broken; select 1", ["BEGIN", "insert into t", "broken", "ROLLBACK"]],
    ["insert into t; COMMIT; select 1", ["BEGIN", "insert into t", "COMMIT", "select 1"]],
    ["insert into t; BEGIN; update t", ["BEGIN", "insert into t", "update t"]],
    ["BEGIN; insert into t; COMMIT", ["BEGIN", "insert into t", "COMMIT"]],
    ["insert into t", ["insert into t"]],
    ["insert into t;", ["insert into t"]],
  ])("are one transaction where one of them could have to be undone: %s", async (sql, asked) => {
    await using server = await served({ answers: transactional(answers) });
    await using client = await RawClient.start(server.port);
    client.send(queryOf(sql));
    await client.until("Z");
    expect(askedOf(server)).toEqual(asked);
  });

  it("commit before the last of them is said to be done", async () => {
    const failing = {
      ...transactional(answers),
      COMMIT: async function* () {
        yield { kind: "session", change: { kind: "unpinned", outcome: "rolledBack" } } as const;
        yield { kind: "failed", error: gatewayError("query.conflict") } as const;
      },
    };
    await using server = await served({ answers: failing });
    await using client = await RawClient.start(server.port);
    client.send(queryOf("insert into t; update t"));
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("SCSEZ");
    expect(errorOf(seen.at(-2))).toMatchObject({ C: "40001" });
    expect(seen.at(-1)?.body.toString()).toBe("I");
  });

  it("run each for itself on an engine without transactions, which is asked once", async () => {
    const none = {
      ...answers,
      BEGIN: [{ kind: "failed", error: gatewayError("query.unsupported") }] as const,
    };
    await using server = await served({ answers: none });
    await using client = await RawClient.start(server.port);
    client.send(queryOf("insert into t; update t; select 1"));
    expect(letters(await client.until("Z"))).toBe("SCSCSTDCZ");
    expect(askedOf(server)).toEqual(["BEGIN", "insert into t", "update t", "select 1"]);
  });

  it("warn of a COMMIT that nobody began, and make BEGIN the client's own", async () => {
    await using server = await served({ answers: transactional(answers) });
    await using client = await RawClient.start(server.port);
    client.send(queryOf("insert into t; COMMIT; select 1"));
    const warned = await client.until("Z");
    expect(fieldsOf(warned.find(({ type }) => type === "N") as Seen)).toMatchObject({ C: "25P01" });
    client.send(queryOf("insert into t; BEGIN; update t"));
    const begun = await client.until("Z");
    expect(letters(begun)).not.toContain("N");
    expect(begun.at(-1)?.body.toString()).toBe("T");
  });

  it("take back their settings when one of them fails", async () => {
    await using server = await served({ answers: transactional(answers) });
    await using client = await RawClient.start(server.port);
    client.send(queryOf("set application_name = 'a'; broken"));
    await client.until("Z");
    client.send(queryOf("select 1; set application_name = 'b'"), queryOf("select 1"));
    await client.until("Z");
    await client.until("Z");
    const names = server.door.queries.map(({ session }) =>
      session.settings.get("application_name"),
    );
    expect(names).toEqual(["a", undefined, "b"]);
  });
});

describe("a series up to its Sync", () => {
  it("is one transaction where a statement changes something before others", async () => {
    await using server = await served({ answers: transactional(answers), descriptions });
    await using client = await RawClient.start(server.port);
    client.send(...stepsOf("insert into t"), ...stepsOf("update t"), sync);
    expect(letters(await client.until("Z"))).toBe("12SC12SCZ");
    expect(askedOf(server)).toEqual(["BEGIN", "insert into t", "update t", "COMMIT"]);
  });

  it("leaves a single statement to itself, also when its Sync comes later", async () => {
    await using server = await served({ answers: transactional(answers), descriptions });
    await using client = await RawClient.start(server.port);
    client.send(...stepsOf("insert into t"));
    client.send(sync);
    expect(letters(await client.until("Z"))).toBe("12SCZ");
    expect(askedOf(server)).toEqual(["insert into t"]);
  });

  it("answers at a Flush and still undoes all when a later step fails", async () => {
    await using server = await served({ answers: transactional(answers), descriptions });
    await using client = await RawClient.start(server.port);
    client.send(...stepsOf("insert into t"), flush);
    expect(letters(await client.until("C"))).toBe("12SC");
    client.send(...stepsOf("broken"), ...stepsOf("update t"), sync);
    expect(letters(await client.until("Z"))).toBe("12SEZ");
    expect(askedOf(server)).toEqual(["BEGIN", "insert into t", "broken", "ROLLBACK"]);
  });

  it("tells of a commit that failed before it is ready", async () => {
    const failing = {
      ...transactional(answers),
      COMMIT: async function* () {
        yield { kind: "session", change: { kind: "unpinned", outcome: "rolledBack" } } as const;
        yield { kind: "failed", error: gatewayError("query.conflict") } as const;
      },
    };
    await using server = await served({ answers: failing, descriptions });
    await using client = await RawClient.start(server.port);
    client.send(...stepsOf("insert into t"), ...stepsOf("update t"), sync);
    expect(letters(await client.until("Z"))).toBe("12SC12SCEZ");
  });

  it("runs nothing of a client that leaves before it says what comes next", async () => {
    await using server = await served({ answers: transactional(answers), descriptions });
    await using client = await RawClient.start(server.port);
    client.send(...stepsOf("insert into t"));
    client.finish();
    await client.rest();
    expect(askedOf(server)).toEqual([]);
  });
});

describe("a cancel that the engine hears of when the statement is done", () => {
  const late = {
    ...answers,
    deaf: async function* (_: unknown, signal: AbortSignal) {
      await aborted(signal);
      yield doneOf("INSERT", 1);
    },
  };

  it.each([
    ["a text", [queryOf("insert into t; deaf; update t")], "SCSCEZ"],
    ["a text that ends with it", [queryOf("insert into t; deaf")], "SCSEZ"],
    ["a series", [...["insert into t", "deaf", "update t"].flatMap(stepsOf), sync], "12SC12SC12EZ"],
    [
      "a series that ends with it",
      [...["insert into t", "deaf"].flatMap(stepsOf), sync],
      "12SC12SCEZ",
    ],
  ])("undoes %s, and nothing behind it runs", async (_what, sent, told) => {
    await using server = await served({ answers: transactional(late) });
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann" }));
    const key = keyOf(await client.until("Z"));
    client.send(...sent);
    await eventually(() => askedOf(server).includes("deaf"));
    await using other = await RawClient.open(server.port);
    other.send(cancelOf(key));
    const seen = await client.until("Z");
    expect(letters(seen)).toBe(told);
    expect(errorOf(seen.at(-2))).toMatchObject({ C: "57014" });
    expect(askedOf(server)).toEqual(["BEGIN", "insert into t", "deaf", "ROLLBACK"]);
    client.send(queryOf("select 1"));
    expect(letters(await client.until("Z"))).toBe("STDCZ");
  });

  it("leaves the client's own transaction open and failed", async () => {
    await using server = await served({ answers: transactional(late) });
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann" }));
    const key = keyOf(await client.until("Z"));
    client.send(...["BEGIN", "deaf", "COMMIT"].flatMap(stepsOf), sync);
    await eventually(() => askedOf(server).includes("deaf"));
    await using other = await RawClient.open(server.port);
    other.send(cancelOf(key));
    expect((await client.until("Z")).at(-1)?.body.toString()).toBe("E");
    expect(askedOf(server)).toEqual(["BEGIN", "deaf"]);
  });

  it("meets no series that begins behind it", async () => {
    await using server = await served({ answers: transactional(late) });
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann" }));
    const key = keyOf(await client.until("Z"));
    client.send(...stepsOf("insert into t"), flush);
    await client.until("C");
    await using other = await RawClient.open(server.port);
    other.send(cancelOf(key));
    expect(await other.rest()).toEqual([]);
    client.send(...stepsOf("update t"), sync);
    expect(letters(await client.until("Z"))).toBe("12SCZ");
  });
});

describe("a transaction with an error that the engine never saw", () => {
  it("takes nothing more but its end, and COMMIT rolls back", async () => {
    await using server = await served({ answers: transactional(answers) });
    await using client = await RawClient.start(server.port);
    client.send(queryOf("BEGIN"), queryOf("insert into t"), parseOf("", "a; b"), sync);
    for (let answer = 0; answer < 2; answer += 1) await client.until("Z");
    expect((await client.until("Z")).at(-1)?.body.toString()).toBe("E");
    client.send(queryOf("select 1"), queryOf("COMMIT"));
    const refused = await client.until("Z");
    expect(errorOf(refused.at(-2))).toMatchObject({ C: "25P02" });
    const ended = await client.until("Z");
    expect(ended.at(-2)?.body.toString()).toBe("ROLLBACK\0");
    expect(askedOf(server)).toEqual(["BEGIN", "insert into t", "ROLLBACK"]);
  });
});

function stepsOf(sql: string): readonly Uint8Array[] {
  return [parseOf("", sql), bindOf(), executeOf()];
}

function askedOf(server: Served): readonly string[] {
  return server.door.queries.map(({ sql }) => sql);
}

function errorOf(seen: Seen | undefined) {
  return seen?.type === "E" ? fieldsOf(seen) : seen?.type;
}
