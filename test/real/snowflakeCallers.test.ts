/** snowflake-sdk before clusters that let their callers in themselves: Snowflake's own driver logs in at an emulator, which checks passwords and remembers who came. */
import { join } from "node:path";
import { hashSync } from "bcryptjs";
import snowflake from "snowflake-sdk";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { driverFolder } from "./adbcHost.ts";

snowflake.configure({ logLevel: "OFF", disableOCSPChecks: true } as never);

const emulator = process.env["GATEWAY_TEST_SNOWFLAKE"] ?? "";
const listener = { host: "127.0.0.1", port: 0 };
const who = "select current_user() as who";
let gateway: TestGateway;

beforeAll(async () => {
  const caller = (account: string, uri: string) => ({
    engine: "adbc",
    driver: join(driverFolder, "libadbc_driver_snowflake.so"),
    uri,
    dbKwargs: { "adbc.snowflake.sql.account": account, "adbc.snowflake.sql.db": "db1" },
    queryAuth: { type: "passthrough" },
  });
  const group = (...members: string[]) => ({ members, maxRunningQueries: 4 });
  const toGroup = (lane: string) => ({ tags: { query_tag: lane }, targetGroup: lane });
  gateway = await gatewayOf({
    gateway: {
      frontends: { snowflakeHttp: listener },
      adminApi: listener,
      persistence: { type: "inMemory" },
    },
    clusters: {
      mine: caller("emulated", emulator),
      theirs: caller("another", "http://127.0.0.1:1"),
      local: { engine: "duckDb" },
    },
    clusterGroups: {
      // First in order: a caller must not end up here because nothing else was asked for.
      local: { ...group("local"), order: 1 },
      mine: { ...group("mine"), order: 2 },
      mixed: { ...group("mine", "theirs"), order: 3 },
      theirs: { ...group("theirs"), order: 4 },
    },
    routers: [{ type: "tags", rules: ["local", "mine", "mixed", "theirs"].map(toGroup) }],
    auth: {
      provider: "static",
      staticUsers: { users: { alice: { passwordHash: hashSync("another-secret", 4) } } },
    },
  });
}, 60_000);
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(async () => {
  await fetch(`${emulator}/test/log`, { method: "DELETE" });
});

describe("a login that names Snowflake's account", () => {
  it("is tried there at once, and the session is that user", async () => {
    const session = await connected("alice", "alice-secret");
    expect(await logins()).toEqual(["alice true emulated"]);
    expect(await session.ask(who)).toBe("ALICE");
    // The connection that let the user in is the one that the statement ran on.
    expect(await logins()).toEqual(["alice true emulated"]);
    const other = await connected("bob", "bob-secret");
    expect(await other.ask(who)).toBe("BOB");
    expect(await session.ask(who)).toBe("ALICE");
  });

  it("is refused with Snowflake's code, whatever the gateway's own users are", async () => {
    for (const password of ["wrong", "another-secret"]) {
      await expect(connected("alice", password)).rejects.toMatchObject({ code: "390100" });
    }
    await expect(connected("nobody", "wrong")).rejects.toMatchObject({ code: "390100" });
    expect(await logins()).toEqual([
      "alice false emulated",
      "alice false emulated",
      "nobody false emulated",
    ]);
  });

  it("is tried anew each time, though connections of an earlier one are open", async () => {
    await connected("alice", "alice-secret");
    await connected("alice", "alice-secret");
    expect(await logins()).toEqual(["alice true emulated", "alice true emulated"]);
  });

  it("is nobody anywhere else", async () => {
    const session = await connected("alice", "alice-secret");
    for (const lane of ["local", "mixed", "theirs"]) {
      await session.ask(`alter session set query_tag = '${lane}'`);
      await expect(session.ask(who)).rejects.toMatchObject({ code: "003001" });
    }
    await session.ask("alter session unset query_tag");
    expect(await session.ask(who)).toBe("ALICE");
    // The user of that name whom the gateway knows has another password, and is another one.
    const own = await connected("alice", "another-secret", "elsewhere");
    expect(await own.ask("select 'own'")).toBe("own");
    expect(await own.ask("alter session set query_tag = 'mine'")).toBeDefined();
    await expect(own.ask(who)).rejects.toMatchObject({ code: "390100" });
  });
});

describe("the SQL API", () => {
  it("lets nobody through to such a cluster", async () => {
    await connected("alice", "alice-secret");
    for (const token of ["alice-oauth", "alice-secret"]) {
      const answer = await fetch(
        `http://127.0.0.1:${portOf(gateway, "snowflakeHttp")}/api/v2/statements`,
        {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify({ statement: who }),
        },
      );
      expect(answer.status).toBe(401);
    }
    expect(await logins()).toEqual(["alice true emulated"]);
  });
});

/** Who logged in at the emulator, whether it let them in, and at which account. */
async function logins(): Promise<readonly string[]> {
  const log = (await (await fetch(`${emulator}/test/log`)).json()) as readonly {
    readonly event: string;
    readonly ok: boolean;
    readonly claimed: string;
    readonly account: string;
  }[];
  return log
    .filter(({ event }) => event === "login")
    .map(({ claimed, ok, account }) => `${claimed} ${ok} ${account}`);
}

/** Logs in; `ask` answers the first cell. */
async function connected(
  username: string,
  password: string,
  account = "emulated",
): Promise<{ ask(sql: string): Promise<unknown> }> {
  const connection = snowflake.createConnection({
    account,
    accessUrl: `http://127.0.0.1:${portOf(gateway, "snowflakeHttp")}`,
    username,
    password,
    sfRetryMaxLoginRetries: 0,
    retryTimeout: 0,
  });
  await new Promise<void>((resolve, reject) => {
    connection.connect((error) => (error ? reject(error) : resolve()));
  });
  return {
    ask: (sqlText) =>
      new Promise((resolve, reject) => {
        connection.execute({
          sqlText,
          rowMode: "array",
          complete: (error, _statement, rows) =>
            error ? reject(error) : resolve((rows as readonly unknown[][] | undefined)?.[0]?.[0]),
        });
      }),
  };
}
