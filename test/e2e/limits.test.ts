/** Every limit of a group, on every wire: what does not fit is answered in the protocol's own words, and nothing stays behind. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  statementsLogged,
  type StatementLog,
} from "@gateway/engines/duckDb/client/statementLog.ts";
import { clients } from "./clients.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

/** Runs for minutes unless it is interrupted. */
const endless =
  "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1";
const short = "select max(i) from range(3) t(i)";

let gateway: TestGateway;
let log: StatementLog & Disposable;

beforeAll(async () => {
  log = statementsLogged();
  const one = { members: ["local"], maxRunningQueries: 1 };
  gateway = await gatewayOf(
    configOf({
      clusterGroups: {
        default: { ...one, maxRunningQueries: 4 },
        full: { ...one, maxQueuedQueries: 0 },
        impatient: { ...one, capacityWaitTimeoutSecs: 1 },
        narrow: { ...one, maxRows: 10 },
        brief: { ...one, maxRunningQueries: 4, maxExecutionSecs: 1 },
      },
      routers: [
        {
          type: "userGroup",
          userToGroup: { full: "full", impatient: "impatient", narrow: "narrow", brief: "brief" },
        },
      ],
    }),
  );
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  log[Symbol.dispose]();
});

const codes = {
  pg: { full: "53300", impatient: "53400", narrow: "54000", brief: "57014" },
  mysql2: { full: "1040", impatient: "1205", narrow: "1104", brief: "3024" },
  mariadb: { full: "1040", impatient: "1205", narrow: "1104", brief: "3024" },
  "trino over HTTP": {
    full: "QUERY_QUEUE_FULL",
    impatient: "EXCEEDED_TIME_LIMIT",
    narrow: "GENERIC_INSUFFICIENT_RESOURCES",
    brief: "EXCEEDED_TIME_LIMIT",
  },
} as const;

describe.each(clients)("a group's limits through %s", (name, ask) => {
  it("refuse at once where the queue is full", async () => {
    await using _holder = await holding("full");
    expect(await ask(gateway, { sql: short, user: "full" })).toBe(codes[name].full);
  });

  it("fail a result with too many rows, and let one through that fits", async () => {
    const rowsOf = (count: number) => `select i from range(${count}) t(i)`;
    expect(await ask(gateway, { sql: rowsOf(11), user: "narrow" })).toBe(codes[name].narrow);
    expect(await ask(gateway, { sql: rowsOf(10), user: "narrow" })).toBe("0");
  });
});

/** Through all clients at once, as each has to wait for a second. */
describe("a group's time limits", () => {
  it("refuse after the capacity wait timeout", async () => {
    await using _holder = await holding("impatient");
    const asked = clients.map(async ([name, ask]) => [
      name,
      await ask(gateway, { sql: short, user: "impatient" }),
    ]);
    expect(await Promise.all(asked)).toEqual(
      clients.map(([name]) => [name, codes[name].impatient]),
    );
  });

  it("end a query in the engine that runs too long", async () => {
    const asked = clients.map(async ([name, ask], at) => {
      // Of its own, so that each one's end is seen.
      const sql = `${endless} + ${at}`;
      const got = await ask(gateway, { sql, user: "brief" });
      await log.ended(sql);
      return [name, got, await ask(gateway, { sql: short, user: "brief" })];
    });
    expect(await Promise.all(asked)).toEqual(
      clients.map(([name]) => [name, codes[name].brief, "2"]),
    );
  });
});

describe("the metrics", () => {
  it("count refusals by group and show nothing running or waiting in the end", async () => {
    const text = await gateway.metrics();
    expect(text).toMatch(/gateway_queue_rejections_total\{cluster_group="full"\} 4\n/);
    expect(text).toMatch(/gateway_queue_rejections_total\{cluster_group="impatient"\} 4\n/);
    for (const line of text.match(/^gateway_(running|queued)_queries\{.*$/gm) ?? []) {
      expect(line).toMatch(/ 0$/);
    }
    expect(text).toMatch(
      /gateway_running_queries\{cluster_group="brief",cluster_name="local"\} 0\n/,
    );
    expect(text).toMatch(
      /gateway_queries_total\{engine="duckDb",cluster_group="narrow",status="failed",frontend="mysqlWire"\} 2\n/,
    );
  });
});

/** Holds the only slot of a group until disposed, when the engine has let go of it. */
async function holding(user: string): Promise<AsyncDisposable> {
  const client = new pg.Client({ host: "127.0.0.1", port: portOf(gateway, "postgresWire"), user });
  client.on("error", () => {});
  await client.connect();
  client.query(endless).catch(() => {});
  await log.started(endless);
  return {
    [Symbol.asyncDispose]: async () => {
      const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
      connection.stream.destroy();
      await log.ended(endless);
      await gateway.running.data.live.idle(AbortSignal.timeout(5_000));
    },
  };
}
