/** Two hundred clients over a cap of five: judged by the engine binding's own log, never by asking the gateway. */
import pg from "pg";
import { describe, expect, it } from "vitest";
import { overlapOf, statementsLogged } from "@gateway/engines/duckDb/client/statementLog.ts";
import { configOf, gatewayOf, portOf } from "./gateway.ts";

const clients = 200;
const cap = 5;

describe("two hundred concurrent clients over a cap of five", () => {
  it("never run more than five at once, reach five, and all finish", async () => {
    using log = statementsLogged();
    const groups = { default: { members: ["local"], maxRunningQueries: cap } };
    await using gateway = await gatewayOf(configOf({ clusterGroups: groups }));
    const port = portOf(gateway, "postgresWire");
    const answers = await Promise.all(Array.from({ length: clients }, (_, n) => ask(port, n)));
    expect(answers).toEqual(Array.from({ length: clients }, (_, n) => String(n)));
    const ours = log.statements().filter(({ sql }) => sql.includes("as answer"));
    expect(ours).toHaveLength(clients);
    expect(overlapOf(ours)).toBe(cap);
  }, 60_000);
});

async function ask(port: number, n: number): Promise<string> {
  const client = new pg.Client({ host: "127.0.0.1", port, user: `user${n % 7}` });
  await client.connect();
  const sql = `select ${n} + 0 * count(*) as answer from range(300000) t(i) where hash(i) % 7 = 0`;
  const { rows } = await client.query({ text: sql, rowMode: "array" });
  await client.end();
  return String(rows[0]?.[0]);
}
