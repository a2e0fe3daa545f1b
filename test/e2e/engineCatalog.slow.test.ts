/**
 * Masks without a list of columns where the engines themselves are the catalog: no column is ever shown bare that the
 * gateway was not told of, and one that is added is shown once what was known is too old.
 */
import { hashSync } from "bcryptjs";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";
const password = "catalog-secret";
const place = new URL("../real/postgresServer.mjs", import.meta.url).href;
const { embeddedPrograms, startPostgres } = (await import(place)) as {
  embeddedPrograms(this: void): Promise<{ readonly folder?: string }>;
  startPostgres(
    this: void,
    folder: string,
  ): Promise<{ readonly port: number; stop(): Promise<void> }>;
};
const programs = await embeddedPrograms();

let server: Awaited<ReturnType<typeof startPostgres>> | undefined;
let gateway: TestGateway;

beforeAll(async () => {
  server = programs.folder === undefined ? undefined : await startPostgres(programs.folder);
  const user = { passwordHash: hashSync(password, 4) };
  const users = {
    duckOwner: { ...user, groups: ["duckOwners"] },
    elephantOwner: { ...user, groups: ["elephantOwners"] },
    duck: { ...user, groups: ["ducks"] },
    elephant: { ...user, groups: ["elephants"] },
  };
  const clusters = {
    duck: { engine: "duckDb" },
    ...(server !== undefined && {
      elephant: {
        engine: "postgresql",
        hosts: [`${host}:${server.port}`],
        auth: { type: "basic", username: "gateway", password: "none" },
      },
    }),
  };
  gateway = await gatewayOf(
    configOf({
      clusters,
      // What policies let nobody do is done in groups that have none.
      clusterGroups: {
        ducks: { members: ["duck"], maxRunningQueries: 4 },
        duckOwners: { members: ["duck"], maxRunningQueries: 4 },
        ...(server !== undefined && {
          elephants: { members: ["elephant"], maxRunningQueries: 4 },
          elephantOwners: { members: ["elephant"], maxRunningQueries: 4 },
        }),
      },
      routers: [
        {
          type: "userGroup",
          groupToGroup: {
            duckOwners: "duckOwners",
            ...(server !== undefined && {
              elephants: "elephants",
              elephantOwners: "elephantOwners",
            }),
          },
        },
      ],
      routingFallback: "ducks",
      auth: { provider: "static", staticUsers: { users } },
      accessControl: {
        provider: "rules",
        defaultSchema: "shop",
        clusterGroups: server === undefined ? ["ducks"] : ["ducks", "elephants"],
        views: "deny",
        rules: [{ name: "masked", tables: ["shop.*"], masks: { secret: "'***'" } }],
      },
      catalogProvider: { provider: "engine", engine: { cacheTtlMs: 1_000 } },
    }),
  );
}, 120_000);

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await server?.stop();
});

describe.each(["duck", "elephant"])("a mask over what an engine knows (%s)", (user) => {
  it.skipIf(user === "elephant" && programs.folder === undefined)(
    "is among its columns, refuses views, and hides a column that is added until it is known",
    async () => {
      await made(user, "CREATE SCHEMA shop");
      await made(user, "CREATE TABLE shop.orders (id int, secret text)");
      await made(user, "INSERT INTO shop.orders VALUES (1, 'bare')");
      await made(user, "CREATE VIEW shop.seen AS SELECT id, secret FROM shop.orders");
      await using client = await connected(user);
      expect((await client.query("SELECT * FROM orders")).rows).toEqual([{ id: 1, secret: "***" }]);
      await expect(client.query("SELECT id FROM seen")).rejects.toThrow("seen");
      await expect(client.query("SELECT * FROM gone")).rejects.toThrow("gone");
      await made(user, "ALTER TABLE shop.orders ADD COLUMN added int DEFAULT 7");
      await vi.waitFor(
        async () => {
          const { rows } = await client.query<{ secret: string }>("SELECT * FROM orders");
          expect(new Set(rows.map(({ secret }) => secret))).toEqual(new Set(["***"]));
          expect(rows).toEqual([{ id: 1, secret: "***", added: 7 }]);
        },
        { timeout: 20_000, interval: 50 },
      );
      await made(user, "ALTER TABLE shop.orders RENAME COLUMN secret TO other");
      // Nothing of the renamed column is ever shown: it is unknown, and then it has no mask.
      await vi.waitFor(
        async () => {
          const seen = await client.query("SELECT * FROM orders").then(
            ({ rows }) => JSON.stringify(rows),
            (error: unknown) => String(error),
          );
          expect(seen).not.toContain("bare");
          expect(seen).toContain("not allowed");
        },
        { timeout: 20_000, interval: 50 },
      );
    },
    60_000,
  );
});

/** Beside the policy, as an owner. */
async function made(user: string, sql: string): Promise<void> {
  await using client = await connected(`${user}Owner`);
  await client.query(sql);
}

async function connected(user: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user, password });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
