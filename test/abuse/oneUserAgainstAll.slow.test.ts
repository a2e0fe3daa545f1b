/** What one user does alone, against another who asks one thing: wherever there is a line or a pot, the other has a share. */
import { setImmediate } from "node:timers/promises";
import { hashSync } from "bcryptjs";
import mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";

const host = "127.0.0.1";
const password = "secret";
const entry = { passwordHash: hashSync(password, 4) };
const slots = 4;

/** Where a user may run two at once. */
let capped: TestGateway;
/** Where nobody counts users, and a transaction lives for a second. */
let shortLived: TestGateway;

beforeAll(async () => {
  [capped, shortLived] = await Promise.all([
    gatewayFor({ maxRunningPerUser: 2 }),
    gatewayFor({ maxTransactionSecs: 1 }),
  ]);
});

afterAll(async () => {
  await Promise.all([capped[Symbol.asyncDispose](), shortLived[Symbol.asyncDispose]()]);
});

describe("four transactions of one user", () => {
  it("take the slots of one user, and another runs beside them", async () => {
    const alices = await connections(capped, "alice", slots);
    const begun = alices.map((client) => client.query("begin"));
    await Promise.race(begun);
    await queued(capped, 2);
    const bob = await connected(capped, "bob");
    expect((await bob.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    // The user's own wait goes on until the user gives a slot back.
    await Promise.all([leave(alices), leave([bob])]);
    await Promise.allSettled(begun);
  });

  it("hold all slots where nobody counts users, but for no longer than a transaction may live", async () => {
    const alices = await connections(shortLived, "alice", slots);
    await Promise.all(alices.map((client) => client.query("begin")));
    const ends = alices.map((client) => busyUntilRefused(() => client.query("select 1")));
    const bob = await connected(shortLived, "bob");
    const answered = bob.query("select 1 as one");
    await queued(shortLived, 1);
    expect((await answered).rows).toEqual([{ one: 1 }]);
    for (const end of ends) expect(await end).toMatchObject({ code: "25P04" });
    for (const client of alices) {
      await toldOnceMore(() => client.query("rollback"));
      await client.query("select 1");
    }
    await leave([...alices, bob]);
  });
});

describe("a transaction that outlived its time", () => {
  it("says so over MySQL, and the connection goes on", async () => {
    const port = portOf(shortLived, "mysqlWire");
    const client = await mysql.createConnection({ host, port, user: "alice", password });
    await client.query("begin");
    const end = await busyUntilRefused(() => client.query("select 1"));
    expect(end).toMatchObject({ errno: 1613 });
    await toldOnceMore(() => client.query("rollback"));
    await client.query("select 1");
    client.destroy();
  });

  it("says so to the statement that runs, which is ended in the engine", async () => {
    const client = await connected(shortLived, "alice");
    await client.query("begin");
    const long = client.query("select count(*) from range(10000000000) a, range(1000000) b");
    await expect(long).rejects.toMatchObject({ code: "25P04" });
    await expect(client.query("rollback")).rejects.toMatchObject({ code: "25P04" });
    await client.query("select 1");
    await leave([client]);
  });
});

describe("parked cursors of one user", () => {
  it("have room for themselves, and another's cursor has its own", async () => {
    const clients = await connections(capped, "alice", 2);
    const [one, two] = clients;
    await parked(one, 40);
    await expect(parked(two, 40)).rejects.toMatchObject({
      code: "53400",
      message: expect.stringContaining("this user"),
    });
    const bob = await connected(capped, "bob");
    await parked(bob, 40);
    const rest = await bob.query("fetch all from c");
    expect(rest.rows).toHaveLength(39);
    await leave([...clients, bob]);
  });
});

describe("six joins over catalogs of one user", () => {
  it("keep another's question waiting for one of them", async () => {
    const alices = await connections(capped, "alice", 6);
    const bob = await connected(capped, "bob");
    const joins = "select count(*) from pg_class a, pg_class b, pg_class c, pg_class d, pg_class e";
    const ended: string[] = [];
    const running = alices.map(async (client) => {
      const failure = await client.query(joins).then(
        () => "answered",
        (error: unknown) => (error as { readonly code?: string }).code ?? "gone",
      );
      ended.push(failure);
    });
    await bob.query("select 1");
    const asked = await bob.query("select count(*) > 0 as some from pg_class");
    expect(asked.rows).toEqual([{ some: true }]);
    expect(ended.filter((code) => code === "57014").length).toBeLessThanOrEqual(1);
    await leave([...alices, bob]);
    await Promise.all(running);
  }, 300_000);
});

function gatewayFor(group: object): Promise<TestGateway> {
  const users = { alice: entry, bob: entry };
  return gatewayOf(
    configOf({
      auth: { provider: "static", staticUsers: { users } },
      clusterGroups: { default: { members: ["local"], maxRunningQueries: slots, ...group } },
    }),
  );
}

async function connected(gateway: TestGateway, user: string): Promise<pg.Client> {
  const port = portOf(gateway, "postgresWire");
  const client = new pg.Client({ host, port, user, password, database: "memory" });
  // A connection that the test closes under a statement.
  client.on("error", () => {});
  await client.connect();
  return client;
}

function connections(gateway: TestGateway, user: string, count: number): Promise<pg.Client[]> {
  return Promise.all(Array.from({ length: count }, () => connected(gateway, user)));
}

/** Ends connections as a client does that is gone, whatever runs there. */
async function leave(clients: readonly pg.Client[]): Promise<void> {
  await Promise.all(
    clients.map(async (client) => {
      (
        client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
      ).connection.stream.destroy();
      await client.end().catch(() => {});
    }),
  );
}

/** Asks again and again; answers the error that ends it. */
async function busyUntilRefused(ask: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    try {
      await ask();
    } catch (error) {
      return error;
    }
  }
}

/** The next statement is told too where one was ended while it ran: its client may not have looked. */
async function toldOnceMore(ask: () => Promise<unknown>): Promise<void> {
  await ask().catch(() => {});
}

/** Resolves when so many queries wait for a slot. */
async function queued(gateway: TestGateway, count: number): Promise<void> {
  const line = new RegExp(`^gateway_queued_queries\\{[^}]*\\} ${count}$`, "m");
  while (!line.test(await gateway.metrics())) await setImmediate();
}

/** Leaves a cursor with so many MB of rows, which the next statement sets aside. */
async function parked(client: pg.Client | undefined, megabytes: number): Promise<void> {
  if (client === undefined) throw new Error("no client");
  await client.query("begin");
  await client.query(
    `declare c cursor for select repeat('x', 1000000) as x from range(${megabytes})`,
  );
  await client.query("fetch 1 from c");
  await client.query("select 1");
}
