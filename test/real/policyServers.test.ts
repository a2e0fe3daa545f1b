/** Access control by an Open Policy Agent and by Cerbos; `npm run test:real` starts both and says where. */
import { writeFileSync } from "node:fs";
import { hashSync } from "bcryptjs";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { guidedConfig, policyClient } from "../fake/policyClient.ts";
import { policyQuestions, type AskedBy } from "../fake/policyQuestions.ts";
import {
  answersFile,
  FakePolicyServer,
  recordedExchanges,
  type PolicyExchange,
} from "../fake/policyServer.ts";
import { suspended } from "./suspended.ts";

const opa = process.env["GATEWAY_TEST_OPA"] ?? "";
const cerbos = process.env["GATEWAY_TEST_CERBOS"] ?? "";
const pids: Readonly<Record<string, number>> = {
  [opa]: Number(process.env["GATEWAY_TEST_OPA_PID"]),
  [cerbos]: Number(process.env["GATEWAY_TEST_CERBOS_PID"]),
};
/** Writes what the servers say for the tests that have none. */
const records = process.env["GATEWAY_TEST_RECORD"] === "1";

const sources: readonly AskedBy[] = ["data", "compile", "cerbos"];
const upstreamOf = (by: AskedBy): string => (by === "cerbos" ? cerbos : opa);

describe.skipIf(opa === "")("policy servers", () => {
  it("say of each question what was recorded of them, and mean what the guide says", async () => {
    const exchanges: PolicyExchange[] = [];
    for (const by of sources) {
      await using proxy = await proxyTo(by);
      await using client = policyClient(by, proxy.url, { cacheTtlMs: 0 });
      for (const question of policyQuestions.filter((one) => one.by === by)) {
        const { untilMs: _, ...told } = { untilMs: 0, ...(await client.ask(question)) };
        expect([by, question, told]).toEqual([by, question, question.told]);
      }
      exchanges.push(...proxy.exchanges);
    }
    if (records) writeFileSync(answersFile, `${JSON.stringify(exchanges, undefined, 2)}\n`);
    expect(exchanges).toEqual(records ? exchanges : recordedExchanges);
  });

  it.each(["data", "compile", "cerbos"] as const)(
    "show what the caller may see or nothing while %s is slow, stopped and goes on",
    async (by) => {
      await using proxy = await proxyTo(by);
      await using served = await servedBy(by, proxy.url);
      await using traffic = await served.traffic();
      const pid = pids[upstreamOf(by)] ?? 0;
      expect(await traffic.until("shown", 10)).toBeUndefined();
      proxy.mood = "late";
      expect(await traffic.until("refused", 10)).toBeUndefined();
      proxy.mood = "well";
      proxy.release();
      expect(await traffic.until("shown", 10)).toBeUndefined();
      {
        using _ = await suspended(pid);
        expect(await traffic.until("refused", 10)).toBeUndefined();
      }
      expect(await traffic.until("shown", 10)).toBeUndefined();
    },
  );

  it.each([
    ["data", { path: "closedcolumn/decision" }],
    ["cerbos", { kind: "closedcolumn" }],
  ] as const)("of %s are told the columns, slow, stopped and going on", async (by, policy) => {
    await using proxy = await proxyTo(by);
    await using served = await servedBy(by, proxy.url, { columns: true }, policy);
    const client = await connectedTo(served.gateway, "ann");
    const said = async (sql: string): Promise<unknown> =>
      await client.query(sql).then(
        ({ rowCount }) => rowCount,
        ({ code }) => code as unknown,
      );
    const open = "SELECT o.id FROM orders o WHERE o.region <> 'x'";
    const untilOpen = async (): Promise<void> => {
      // Nobody is asked about a caller for a second after no answer.
      for (let answer = await said(open); answer !== 2; answer = await said(open)) {
        expect(answer).toBe("57P03");
      }
    };
    await untilOpen();
    for (const closed of [
      "SELECT margin FROM orders",
      "SELECT * FROM orders",
      "SELECT id FROM orders WHERE margin > 8",
      "SELECT id FROM orders ORDER BY MARGIN",
      "SELECT o FROM orders o",
    ]) {
      expect([closed, await said(closed)]).toEqual([closed, "42501"]);
    }
    proxy.mood = "late";
    expect(await said(open)).toBe("57P03");
    proxy.mood = "well";
    proxy.release();
    await untilOpen();
    const pid = pids[upstreamOf(by)] ?? 0;
    {
      using _ = await suspended(pid);
      expect(await said(open)).toBe("57P03");
    }
    await untilOpen();
    await client.end();
  });

  it("refuse everybody once they are gone and what they said is too old", async () => {
    // One after the other: their databases in memory are one.
    const servers: Served[] = [];
    for (const by of sources) servers.push(await servedBy(by, upstreamOf(by)));
    const gone = await Promise.all(
      servers.map(async (served) => ({ served, traffic: await served.traffic() })),
    );
    try {
      const nothing = gone.map(() => undefined);
      const all = async (kind: "shown" | "refused") =>
        await Promise.all(gone.map(({ traffic }) => traffic.until(kind, 10)));
      expect(await all("shown")).toEqual(nothing);
      for (const pid of Object.values(pids)) process.kill(pid, "SIGKILL");
      expect(await all("refused")).toEqual(nothing);
    } finally {
      for (const { served, traffic } of gone) {
        await traffic[Symbol.asyncDispose]();
        await served[Symbol.asyncDispose]();
      }
    }
  });
});

async function proxyTo(by: AskedBy): Promise<FakePolicyServer> {
  const proxy = await FakePolicyServer.start();
  proxy.upstream = upstreamOf(by);
  return proxy;
}

const password = "access-secret";
const seen = (by: AskedBy) =>
  by === "cerbos"
    ? [{ id: 1, region: "EU", amount: 5, email: "a@b.example", margin: 9 }]
    : by === "data"
      ? [{ id: 1, region: "EU", amount: 5, email: "hidden" }]
      : [{ amount: 5, email: "hidden", id: 1, region: "EU" }];

/** Fills the database in memory, which is one for all gateways of this process, before anybody controls it. */
let filled: TestGateway;
beforeAll(async () => {
  filled = await gatewayOf(configOf());
  const client = await connectedTo(filled, "root");
  await client.query("CREATE SCHEMA sales");
  await client.query(
    "CREATE TABLE sales.orders AS SELECT 1 AS id, 'EU' AS region, 5 AS amount, 'a@b.example' AS email, 9 AS margin UNION ALL SELECT 2, 'US', 6, 'c@d.example', 8",
  );
  await client.end();
}, 60_000);
afterAll(() => filled[Symbol.asyncDispose]());

async function connectedTo(gateway: TestGateway, user: string): Promise<pg.Client> {
  const port = portOf(gateway, "postgresWire");
  const client = new pg.Client({ host: "127.0.0.1", port, user, password });
  await client.connect();
  return client;
}

/** A gateway that asks there each time, about a table of which one row may be seen. */
type Served = Awaited<ReturnType<typeof servedBy>>;

async function servedBy(by: AskedBy, url: string, told: object = {}, policy: object = {}) {
  const user = { passwordHash: hashSync(password, 4) };
  const users = { ann: { ...user, groups: ["EU"] } };
  const guided = guidedConfig(by);
  const key = by === "cerbos" ? "cerbos" : "opa";
  const server = { ...(guided[key] as object), url, timeoutMs: 300, cacheTtlMs: 0, ...policy };
  const gateway = await gatewayOf(
    configOf({
      auth: { provider: "static", staticUsers: { users } },
      accessControl: { ...guided, ...told, [key]: server },
    }),
  );
  return {
    gateway,
    traffic: async () =>
      trafficOf(await Promise.all([1, 2, 3].map(() => connectedTo(gateway, "ann"))), by),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

/** Clients that ask one after the other. Each answer is the row that may be seen, or a refusal that says to come back. */
function trafficOf(clients: readonly pg.Client[], by: AskedBy) {
  const counts = { shown: 0, refused: 0 };
  const waiting: { readonly kind: keyof typeof counts; readonly at: number; done(): void }[] = [];
  const stop = new AbortController();
  let wrong: unknown;
  const count = (kind: keyof typeof counts): void => {
    counts[kind] += 1;
    for (const one of waiting) if (counts[one.kind] >= one.at || wrong !== undefined) one.done();
  };
  const ask = async (client: pg.Client): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        const { rows } = await client.query("SELECT * FROM orders");
        if (JSON.stringify(rows) !== JSON.stringify(seen(by))) wrong ??= rows;
        count("shown");
      } catch (thrown) {
        if ((thrown as { code?: string }).code !== "57P03") wrong ??= thrown;
        count("refused");
      }
    }
  };
  const running = clients.map(ask);
  return {
    /** Waits for `more` of that kind from now on. Answers what else was seen, or undefined. */
    until: async (kind: keyof typeof counts, more: number): Promise<unknown> => {
      await new Promise<void>((done) => {
        waiting.push({ kind, at: counts[kind] + more, done });
      });
      return wrong;
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await Promise.all(running);
      await Promise.all(clients.map((client) => client.end()));
    },
  };
}
