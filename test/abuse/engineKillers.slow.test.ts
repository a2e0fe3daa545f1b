/**
 * Texts that ended a gateway or held it for minutes: results of many small chunks, recursion inside the
 * engine, plans without end. Whatever one of them does to an engine's process, everybody else is served.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, type TestGateway } from "../e2e/gateway.ts";
import { wires, type Wire } from "../ordinary/wires.ts";
import { crowds, plans, recursions, runs } from "./engineKillers/corpus.ts";
import { engineProcesses, running } from "./engineProcess.ts";

/** What each protocol says when the engine's process ended under a statement. */
const crashed: Readonly<Record<string, string>> = {
  "PostgreSQL simple": "57P02",
  "PostgreSQL prepared": "57P02",
  "MySQL text": "1296",
  "MySQL prepared": "1296",
  "Trino HTTP": "REMOTE_HOST_GONE",
};
const syntaxError: Readonly<Record<string, string>> = {
  "PostgreSQL simple": "42601",
  "PostgreSQL prepared": "42601",
  "MySQL text": "1064",
  "MySQL prepared": "1064",
  "Trino HTTP": "SYNTAX_ERROR",
};
/** What each says when the group's time limit passed. */
const timedOut: ReadonlySet<string> = new Set(["57014", "3024", "EXCEEDED_TIME_LIMIT"]);

let gateway: TestGateway;
let open: readonly Wire[];
/** Of a user whose statements run on a cluster that nobody attacks. */
let beside: Wire;
/** Of a user whose statements have a limit of time. */
let hurried: Wire;

beforeAll(async () => {
  gateway = await gatewayOf(
    configOf(
      {
        clusters: { local: { engine: "duckDb" }, other: { engine: "duckDb" } },
        clusterGroups: {
          // A process that is started again may take a while on a busy machine.
          default: { members: ["local"], maxRunningQueries: 4 },
          hurried: { members: ["local"], maxRunningQueries: 4, maxExecutionSecs: 1 },
          quiet: { members: ["other"], maxRunningQueries: 4 },
        },
        routers: [{ type: "userGroup", userToGroup: { bob: "quiet", carol: "hurried" } }],
      },
      // Otherwise a plan that takes long enough is refused before it is made.
      { maxStatementTokens: 1_000_000 },
    ),
  );
  open = await Promise.all(wires.map((openWire) => openWire(gateway)));
  const [first] = wires;
  if (first === undefined) throw new Error("no wires");
  beside = await first(gateway, "bob");
  hurried = await first(gateway, "carol");
  await beside.ask("create table kept as select 7 as a");
});
afterAll(async () => {
  await Promise.all([...open, beside, hurried].map((wire) => wire.close()));
  await gateway[Symbol.asyncDispose]();
});

describe("a result of many small chunks", () => {
  it.each(crowds)("is whole over every wire: %s", async (_what, sql, rows) => {
    for (const wire of open) {
      const answer = await wire.ask(sql);
      expect([wire.name, answer.kind === "rows" ? answer.rows.length : answer]).toEqual([
        wire.name,
        rows,
      ]);
    }
  });
});

describe("a run of operators or comments", () => {
  // MySQL's comments are blanks in what goes on.
  it.each(runs)("never reaches the engine: %s", async (what, sql) => {
    for (const wire of open) {
      const answer = await wire.ask(sql);
      const blanks = what === "comments" && wire.name.startsWith("MySQL");
      expect([wire.name, answer.kind === "refused" ? answer.code : answer.kind]).toEqual([
        wire.name,
        blanks ? "rows" : syntaxError[wire.name],
      ]);
      expect(await wire.ask("select 1")).toEqual({ kind: "rows", rows: [["1"]] });
    }
  });
});

describe("a recursion inside the engine", () => {
  it.each(recursions)("ends its own statement at most: %s", async (_what, sql) => {
    for (const wire of open.filter(({ name }) => !name.endsWith("prepared"))) {
      const answer = await wire.ask(sql);
      const code = answer.kind === "refused" ? answer.code : "rows";
      expect([crashed[wire.name], "rows"]).toContain(code);
      // On the same connection, with the next process.
      expect(await wire.ask("select 1")).toEqual({ kind: "rows", rows: [["1"]] });
      expect(await beside.ask("select a from kept")).toEqual({ kind: "rows", rows: [["7"]] });
    }
  });
});

describe("a plan without end", () => {
  it.each(plans)("ends at the group's time limit, and its slot is free: %s", async (_what, sql) => {
    const answer = await hurried.ask(sql);
    expect(answer).toMatchObject({ kind: "refused" });
    expect(answer.kind === "refused" && timedOut.has(answer.code)).toBe(true);
    expect(await beside.ask("select a from kept")).toEqual({ kind: "rows", rows: [["7"]] });
    for (const other of open) expect((await other.ask("select 1")).kind).toBe("rows");
    await running(gateway, 0);
  });
});

describe("an engine's process that is killed under load", () => {
  it("fails what ran there with a typed error, and nothing else", async () => {
    const endless = "select count(*) from range(100000000000) t(i) where i % 3 = 5";
    const asked = open.slice(0, 4).map(async (wire) => ({ wire, answer: await wire.ask(endless) }));
    await running(gateway, 4);
    for (const pid of engineProcesses()) process.kill(pid, "SIGKILL");
    for (const { wire, answer } of await Promise.all(asked)) {
      const code = answer.kind === "refused" ? answer.code : "rows";
      expect([wire.name, code]).toEqual([wire.name, crashed[wire.name]]);
    }
    for (const wire of open) expect((await wire.ask("select 1")).kind).toBe("rows");
    await running(gateway, 0);
  }, 300_000);
});
