/** Each kind of router, and two clusters behind one group, judged by where the engine's binding saw the statement. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  statementsLogged,
  type StatementLog,
} from "@gateway/engines/duckDb/client/statementLog.ts";
import { askMysql2, askPg, askTrino, clients, type Question } from "./clients.ts";
import { configOf, gatewayOf, type TestGateway } from "./gateway.ts";

const names = ["rest", "byHeader", "byTag", "byUser", "byText", "byWire", "byBoth"] as const;

let gateway: TestGateway;
let log: StatementLog & Disposable;

beforeAll(async () => {
  log = statementsLogged();
  gateway = await gatewayOf(
    configOf({
      clusters: Object.fromEntries(names.map((name) => [name, { engine: "duckDb", threads: 1 }])),
      clusterGroups: Object.fromEntries(
        names.map((name) => [name, { members: [name], maxRunningQueries: 2 }]),
      ),
      routingFallback: "rest",
      routers: [
        {
          type: "queryRegex",
          rules: [
            { regex: "secret_table", action: "deny", error: "ask the owners of secret_table" },
            { regex: "^select 'report'", targetGroup: "byText" },
          ],
        },
        {
          type: "compound",
          combine: "all",
          conditions: [
            { type: "userGroup", users: ["carol"] },
            { type: "tags", tags: { team: "both" } },
          ],
          targetGroup: "byBoth",
        },
        {
          type: "header",
          headerName: "x-trino-source",
          headerValueToGroup: { airflow: "byHeader" },
        },
        { type: "tags", rules: [{ tags: { team: "data" }, targetGroup: "byTag" }] },
        { type: "userGroup", userToGroup: { bob: "byUser" } },
        { type: "protocolBased", protocols: { mysqlWire: "byWire" } },
      ],
    }),
  );
}, 30_000);

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  log[Symbol.dispose]();
});

describe.each(clients)("a query through %s", (name, ask) => {
  it("goes by its text", async () => {
    expect(await ranOn(ask, { sql: `select 'report' as "${name}"` })).toBe("byText");
  });

  it("goes by its user", async () => {
    expect(await ranOn(ask, { sql: `select 'user' as "${name}"`, user: "bob" })).toBe("byUser");
  });

  it("goes by its protocol, and to the fallback where nothing matched", async () => {
    const expected = name === "mysql2" || name === "mariadb" ? "byWire" : "rest";
    expect(await ranOn(ask, { sql: `select 'wire' as "${name}"` })).toBe(expected);
  });

  it("is denied by its text before the engine sees it", async () => {
    const sql = `select count(*) as "${name}" from secret_table`;
    const denied = ["42501", "1227", "QUERY_REJECTED"];
    expect(denied).toContain(await ask(gateway, { sql }));
    expect(log.statements().some((one) => one.sql.includes("secret_table"))).toBe(false);
  });
});

describe("a query with tags", () => {
  it.each([
    ["pg", askPg],
    ["mysql2", askMysql2],
    ["trino over HTTP", askTrino],
  ] as const)("goes by them through %s, alone and together with its user", async (name, ask) => {
    const tags = { team: "data" };
    expect(await ranOn(ask, { sql: `select 'tag' as "${name}"`, tags })).toBe("byTag");
    const both = { tags: { team: "both" }, user: "carol" };
    expect(await ranOn(ask, { sql: `select 'both' as "${name}"`, ...both })).toBe("byBoth");
  });
});

describe("a query with headers", () => {
  it("goes by one of them", async () => {
    const headers = { "x-trino-source": "airflow" };
    expect(await ranOn(askTrino, { sql: "select 'header' as h", headers })).toBe("byHeader");
  });
});

describe("two clusters of one group", () => {
  it("are filled in the order of the config under failover", async () => {
    await using pair = await gatewayOf(
      configOf({
        clusters: { first: { engine: "duckDb" }, second: { engine: "duckDb" } },
        clusterGroups: {
          default: {
            members: ["first", "second"],
            maxRunningQueries: 1,
            strategy: { type: "failover" },
          },
        },
      }),
    );
    const long = "select count(*) as long from range(300000000) t(i) where hash(i) % 7 = 0";
    const running = askPg(pair, { sql: long });
    await log.started(long);
    expect(await askTrino(pair, { sql: "select 'spilled'" })).toBe("spilled");
    expect(Number(await running)).toBeGreaterThan(0);
    expect(await askTrino(pair, { sql: "select 'back again'" })).toBe("back again");
    expect([long, "spilled", "back again"].map(clusterOf)).toEqual(["first", "second", "first"]);
  });
});

async function ranOn(ask: typeof askPg, question: Question): Promise<string | undefined> {
  expect(await ask(gateway, question)).toMatch(/^[a-z]+$/);
  const [, word = ""] = /'(\w+)'/.exec(question.sql) ?? [];
  const [, name = ""] = / as "?([^"]+)/.exec(question.sql) ?? [];
  return log.statements().findLast((one) => one.sql.includes(word) && one.sql.includes(name))
    ?.cluster;
}

function clusterOf(part: string): string | undefined {
  return log.statements().find(({ sql }) => sql.includes(part))?.cluster;
}
