/**
 * Plans that a real engine makes for minutes and that nothing interrupts: whoever asked for one is told when
 * the limit of time passed or the cancel came, the engine's process is ended, and every slot is back.
 */
import * as mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cancelByKey } from "../e2e/cancelByKey.ts";
import { lastOf, type TrinoPage } from "../e2e/clients.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { wires, type Wire } from "../ordinary/wires.ts";
import { largerPlans } from "./engineKillers/corpus.ts";
import { engineProcesses, firstToWork, running } from "./engineProcess.ts";

const host = "127.0.0.1";
/** Of the time limit, of the end of the process, and of the limit on what a message may make an engine do. */
const typed = /^(57014|57P02|3024|1296|EXCEEDED_TIME_LIMIT|REMOTE_HOST_GONE)$/;
/** The last one is planned for more than three minutes on a quiet machine. */
const endless = largerPlans.at(-1)?.[1] ?? "";
/** Processor time after which an engine has read such a text and plans. */
const plansAfter = 500;

let gateway: TestGateway;
/** Of a user whose statements have a limit of time, with the name of each protocol. */
let hurried: readonly Wire[];
/** Of a user whose statements have none: a process that is started again may take a while on a busy machine. */
let patient: readonly Wire[];
/** Of a user on a cluster that nobody attacks. */
let beside: Wire;

beforeAll(async () => {
  gateway = await gatewayOf(
    configOf(
      {
        clusters: { local: { engine: "duckDb" }, other: { engine: "duckDb" } },
        clusterGroups: {
          default: { members: ["local"], maxRunningQueries: 8 },
          hurried: { members: ["local"], maxRunningQueries: 8, maxExecutionSecs: 1 },
          quiet: { members: ["other"], maxRunningQueries: 4 },
        },
        routers: [{ type: "userGroup", userToGroup: { bob: "quiet", carol: "hurried" } }],
      },
      { maxStatementBytes: 8 << 20, maxMessageBytes: 16 << 20, maxStatementTokens: 10_000_000 },
    ),
  );
  hurried = await Promise.all(wires.map((open) => open(gateway, "carol")));
  const [first] = wires;
  if (first === undefined) throw new Error("no wires");
  patient = await Promise.all(wires.map((open) => open(gateway)));
  beside = await first(gateway, "bob");
});
afterAll(async () => {
  await Promise.all([...hurried, ...patient, beside].map((wire) => wire.close()));
  await gateway[Symbol.asyncDispose]();
});

describe("a plan that holds several slots", () => {
  it.each(largerPlans)(
    "ends in all of them by the time limit or with the process: %s",
    async (_what, sql) => {
      const asked = hurried.map((wire) => wire.ask(sql));
      expect(await beside.ask("select 1")).toEqual({ kind: "rows", rows: [["1"]] });
      for (const answer of await Promise.all(asked)) {
        expect(answer).toEqual({ kind: "refused", code: expect.stringMatching(typed) });
      }
      await running(gateway, 0);
      for (const wire of [...patient, beside]) {
        expect(await wire.ask("select 1")).toEqual({ kind: "rows", rows: [["1"]] });
      }
    },
    600_000,
  );
});

/** A statement under way: what it is answered, its cancel, and the next statement of the same client. */
interface Asked {
  readonly answer: Promise<string>;
  cancel(): Promise<unknown>;
  next(): Promise<string>;
  close(): Promise<unknown>;
}

const clients: Readonly<Record<string, (sql: string) => Promise<Asked>>> = {
  PostgreSQL: async (sql) => {
    const port = portOf(gateway, "postgresWire");
    const client = new pg.Client({ host, port, user: "alice" });
    // What ends the connection also fails the query.
    client.on("error", () => {});
    await client.connect();
    const ask = (text: string): Promise<string> =>
      client
        .query<unknown[]>({ text, rowMode: "array" })
        .then(({ rows }) => String(rows[0]?.[0]), codeOf);
    return {
      answer: ask(sql),
      cancel: () => cancelByKey(client, { host, port }),
      next: () => ask("select 1"),
      close: () => client.end(),
    };
  },
  MySQL: async (sql) => {
    const options = { host, port: portOf(gateway, "mysqlWire"), user: "alice", rowsAsArray: true };
    const [client, killer] = await Promise.all([
      mysql.createConnection(options),
      mysql.createConnection(options),
    ]);
    const ask = (text: string): Promise<string> =>
      client.query(text).then(([rows]) => String((rows as unknown[][])[0]?.[0]), codeOf);
    return {
      answer: ask(sql),
      cancel: () => killer.query(`kill query ${client.threadId}`),
      next: () => ask("select 1"),
      close: () => Promise.all([client.end(), killer.end()]),
    };
  },
  Trino: async (sql) => {
    const url = `http://${host}:${portOf(gateway, "trinoHttp")}/v1/statement`;
    const headers = { "x-trino-user": "alice" };
    const begin = async (body: string): Promise<TrinoPage> => {
      const answer = await fetch(url, { method: "POST", headers, body });
      return (await answer.json()) as TrinoPage;
    };
    const first = await begin(sql);
    const { nextUri = "" } = first;
    return {
      answer: lastOf(first, headers),
      cancel: () => fetch(nextUri, { method: "DELETE", headers }),
      next: async () => lastOf(await begin("select 1"), headers),
      close: () => Promise.resolve(),
    };
  },
};

describe("the cancel of a plan without end", () => {
  it.each([
    ["PostgreSQL", "57014"],
    ["MySQL", "1317"],
    ["Trino", "USER_CANCELED"],
  ])(
    "is answered over %s, ends the engine's process and gives the slot back",
    async (protocol, code) => {
      const begin = clients[protocol];
      if (begin === undefined) throw new Error("no such client");
      const before = engineProcesses();
      const asked = await begin(endless);
      const plans = await firstToWork(before, plansAfter);
      await running(gateway, 1);
      await asked.cancel();
      expect(await asked.answer).toBe(code);
      await running(gateway, 0);
      expect(await asked.next()).toBe("1");
      const after = engineProcesses();
      expect(before.filter((pid) => !after.includes(pid))).toEqual([plans]);
      expect(after).toHaveLength(before.length);
      await asked.close();
    },
    600_000,
  );
});

function codeOf(error: unknown): string {
  const { errno, code } = error as { readonly errno?: unknown; readonly code?: unknown };
  return String(errno ?? code ?? error);
}
