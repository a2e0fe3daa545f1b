/** A client that takes longer over a statement's messages than its own limit of one, directly and through. */
import {
  bindOf,
  describeOf,
  executeOf,
  fieldsOf,
  flush,
  letters,
  parseOf,
  queryOf,
  RawClient,
  startupOf,
  sync,
} from "@gateway/frontends/postgres/rig/rawClient.ts";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { configOf, gatewayOf, portOf } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

let server: URL;
let watcher: pg.Client;
beforeAll(async () => {
  server = await emptyDatabase("overdue");
  watcher = new pg.Client({ connectionString: server.href });
  await watcher.connect();
});
afterAll(async () => await watcher.end());

/** What is sent before the client is silent, behind that, and in a next series. */
const series = {
  "behind Parse": [
    [parseOf("kept", "select 1")],
    [describeOf("S", "kept"), sync],
    [bindOf({ statement: "kept" }), describeOf("P"), executeOf(), sync],
  ],
  "behind Bind": [
    [parseOf("", "select 2"), bindOf(), flush],
    [executeOf(), sync],
    [parseOf("", "select 3"), bindOf(), executeOf(), sync],
  ],
  "before Sync": [[parseOf("", "select 4"), bindOf()], [sync], [queryOf("select 5")]],
  "behind Execute": [
    [parseOf("", "select 6"), bindOf(), executeOf(), flush],
    [parseOf("", "select 7"), bindOf(), executeOf(), sync],
    [queryOf("select 8")],
  ],
};

it.each(Object.entries(series))("%s it hears what a server says", async (_where, parts) => {
  const local = {
    engine: "postgresql",
    hosts: [server.host],
    database: "overdue",
    auth: { type: "basic", username: server.username, password: "none" },
  };
  await using gateway = await gatewayOf(configOf({ clusters: { local } }));
  const directly = await told(Number(server.port), server.username, parts);
  const through = await told(portOf(gateway, "postgresWire"), "ann", parts);
  expect(through).toEqual(directly);
});

/** The letters and errors of what comes for each part but the first. */
async function told(port: number, user: string, parts: readonly (readonly Uint8Array[])[]) {
  await using client = await RawClient.open(port);
  client.send(startupOf({ user, database: "overdue" }));
  await client.until("Z");
  client.send(queryOf("set statement_timeout = 150"));
  await client.until("Z");
  const [begun = [], ...more] = parts;
  client.send(...begun);
  // For twice as long as it may take.
  await watcher.query("select pg_sleep(0.3)");
  const heard: string[] = [];
  for (const sent of more) {
    client.send(...sent);
    const seen = await client.until("Z");
    const errors = seen.filter(({ type }) => type === "E").map((error) => fieldsOf(error));
    const texts = errors.map(({ S, C, M }) => `${S} ${C} ${M}`);
    heard.push([letters(seen), ...texts].join(" "));
  }
  return heard;
}
