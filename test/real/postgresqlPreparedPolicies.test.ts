/** A text that a client sent to be prepared is judged when it runs: it is nothing that EXECUTE could run unseen. */
import { hashSync } from "bcryptjs";
import pg from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

const password = "prepared-secret";
const user = { passwordHash: hashSync(password, 4) };

let server: URL;
beforeAll(async () => {
  server = await emptyDatabase("prepared_policies");
  const direct = new pg.Client({ connectionString: server.href });
  await direct.connect();
  await direct.query("create table kept (id int, gone text)");
  await direct.query("insert into kept values (1, 'unseen')");
  await direct.end();
});

const guarded = (guard: object) => ({ guardrails: { guards: [{ name: "one", ...guard }] } });
const masks = { gone: "'***'" };
const mask = { name: "one", tables: ["public.kept"], columns: ["id", "gone"], masks };
const refused = /"a" does not exist|not understood|may not/;
const policies = {
  requirePredicate: guarded({ type: "requirePredicate", tables: ["kept"], columns: ["id"] }),
  queryRegex: guarded({ type: "queryRegex", regex: "gone" }),
  statementKinds: guarded({ type: "statementKinds", allow: ["execute", "explain", "set"] }),
  router: { routers: [{ type: "queryRegex", rules: [{ regex: "gone", targetGroup: "closed" }] }] },
  accessControl: {
    accessControl: { provider: "rules", defaultSchema: "public", rules: [mask] },
  },
};

describe.each(Object.entries(policies))("under %s", (_name, policy) => {
  it.each(["session", "transaction"])("EXECUTE finds none, in mode %s", async (poolMode) => {
    const auth = { type: "basic", username: server.username, password: "none" };
    const place = {
      engine: "postgresql",
      hosts: [server.host],
      database: "prepared_policies",
      auth,
    };
    const local = { ...place, poolMode, pinning: "allow", preparedStatementsMax: 9 };
    const closed = { members: ["local"], maxRunningQueries: 4, authorization: { allowUsers: [] } };
    const open = { members: ["local"], maxRunningQueries: 4 };
    await using gateway = await gatewayOf(
      configOf({
        clusters: { local },
        clusterGroups: { default: open, closed },
        auth: { provider: "static", staticUsers: { users: { ann: user } } },
        ...policy,
      }),
    );
    const port = portOf(gateway, "postgresWire");
    const wire = { host: "127.0.0.1", port, user: "ann", database: "prepared_policies" };
    const client = new pg.Client({ ...wire, password });
    await client.connect();
    const said = async (question: pg.QueryConfig): Promise<string> =>
      await client.query(question).then(
        ({ rows }) => JSON.stringify(rows),
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
    const sent = await said({ name: "a", text: "select gone from kept" });
    const executed = await said({ text: "execute a" });
    const explained = await said({ text: "explain analyze execute a" });
    await client.end();
    expect(sent).not.toContain("unseen");
    expect(executed).toMatch(refused);
    expect(explained).toMatch(refused);
  });
});
