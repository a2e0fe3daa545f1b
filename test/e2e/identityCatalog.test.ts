/** Where engines see users as themselves, catalogs are theirs too, and records say who was asked for. */
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeTrino, type FakeTrino } from "../fake/trino.ts";
import { adminOf, type Admin } from "./admin.ts";
import { askPg } from "./clients.ts";
import { configOf, gatewayOf, type TestGateway } from "./gateway.ts";

const tablesSql =
  "select string_agg(c.relname, ',' order by c.relname) from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where n.nspname = 'default' and c.relkind = 'r'";

let trino: FakeTrino;
let gateway: TestGateway;
let admin: Admin;

beforeAll(async () => {
  trino = await fakeTrino();
  const users = Object.fromEntries(
    ["alice", "bob"].map((name) => [name, { passwordHash: hashSync(`${name}-secret`, 4) }]),
  );
  gateway = await gatewayOf(
    configOf({
      clusters: {
        lake: {
          engine: "trino",
          endpoint: trino.origin,
          auth: { type: "basic", username: "svc", password: "service-secret" },
          queryAuth: { type: "impersonate" },
          catalog: "memory",
        },
      },
      clusterGroups: { default: { members: ["lake"], maxRunningQueries: 4 } },
      auth: { provider: "static", staticUsers: { users } },
    }),
  );
  admin = await adminOf(gateway);
}, 60_000);
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await trino[Symbol.asyncDispose]();
});

function askAs(user: string, sql: string): Promise<string> {
  return askPg(gateway, { sql, user, password: `${user}-secret` });
}

describe("under impersonate", () => {
  it("each user finds the tables that the engine shows to that user", async () => {
    await askAs("alice", "create table suite_t (id integer)");
    await askAs("alice", "create table salaries (id integer)");
    // The engine shows bob another table in that place.
    trino.fault = ({ headers }) =>
      headers["x-trino-user"] === "bob"
        ? { kind: "replace", text: '"salaries"', by: '"holidays"' }
        : undefined;
    expect(await askAs("alice", tablesSql)).toBe("salaries,suite_t");
    expect(await askAs("bob", tablesSql)).toBe("holidays,suite_t");
    expect(await askAs("alice", tablesSql)).toBe("salaries,suite_t");
    const listings = trino.seen.filter(({ body }) => body.includes("information_schema.columns"));
    const askedAs = new Set(listings.map(({ headers }) => headers["x-trino-user"]));
    expect(askedAs).toEqual(new Set(["alice", "bob"]));
  }, 60_000);

  it("a record says mode and name, and nothing that somebody could log in with", async () => {
    await askAs("bob", "select 1");
    // Records are written behind the answer.
    const idOf = async (): Promise<string | undefined> => {
      const { body } = await admin("GET", "/admin/queries?user=bob");
      return (body as { readonly items: readonly { readonly proxyQueryId: string }[] }).items[0]
        ?.proxyQueryId;
    };
    await expect.poll(idOf).toBeDefined();
    const detail = await admin("GET", `/admin/queries/${await idOf()}`);
    expect(detail.body).toMatchObject({
      backendIdentityMode: "impersonate",
      enginePrincipal: "bob",
    });
    expect(JSON.stringify(detail.body)).not.toContain("-secret");
  });
});
