/** What clients are told of a server's settings, at the greeting and behind their statements, in each way of pooling. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

let server: URL;
beforeAll(async () => {
  server = await emptyDatabase("statuses");
});

interface Told {
  readonly client: pg.Client;
  /** Settings as the client was told them last. */
  readonly settings: ReadonlyMap<string, string>;
}

async function toldBy(place: pg.ClientConfig): Promise<Told> {
  const client = new pg.Client({ ...place, database: "statuses" });
  const settings = new Map<string, string>();
  client.connection.on("parameterStatus", ({ parameterName, parameterValue }) =>
    settings.set(parameterName, parameterValue),
  );
  await client.connect();
  return { client, settings };
}

describe.each(["session", "transaction"])("pooled by %s", (poolMode) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const auth = { type: "basic", username: server.username, password: "none" };
    const hosts = [server.host];
    const local = {
      engine: "postgresql",
      hosts,
      database: "statuses",
      auth,
      poolSize: 3,
      poolMode,
    };
    gateway = await gatewayOf(configOf({ clusters: { local } }));
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());
  const through = async (): Promise<Told> =>
    await toldBy({ host: "127.0.0.1", port: portOf(gateway, "postgresWire"), user: "ann" });

  it("a client is greeted with the server's settings, and not with another session's", async () => {
    const first = await through();
    await first.client.query("set timezone to 'Asia/Tokyo'; set datestyle to 'SQL, DMY'");
    await first.client.query("select now()");
    const second = await through();
    expect(second.settings.get("TimeZone")).not.toBe("Asia/Tokyo");
    expect(second.settings.get("DateStyle")).toBe("ISO, MDY");
    await Promise.all([first.client.end(), second.client.end()]);
  });

  it("what changes in a session's first transaction is told at once", async () => {
    const { client, settings } = await through();
    await client.query("begin");
    await client.query("set timezone to 'Asia/Tokyo'");
    expect(settings.get("TimeZone")).toBe("Asia/Tokyo");
    await client.query("rollback");
    expect(settings.get("TimeZone")).not.toBe("Asia/Tokyo");
    await client.end();
  });

  it("a zone that only the server knows is taken, and one that nobody knows is not", async () => {
    const { client, settings } = await through();
    await client.query("set timezone to 'CET-1CEST'");
    expect(settings.get("TimeZone")).toBe("CET-1CEST");
    const { rows } = await client.query("select '2024-07-01 12:00+00'::timestamptz::text as at");
    expect(rows).toEqual([{ at: "2024-07-01 14:00:00+02" }]);
    await expect(client.query("set timezone to 'Mars/Olympus'")).rejects.toMatchObject({
      code: "22023",
    });
    expect(settings.get("TimeZone")).toBe("CET-1CEST");
    await client.end();
  });
});
