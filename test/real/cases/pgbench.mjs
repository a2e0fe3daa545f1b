/** pgbench in its three protocols: simple, extended, prepared. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, expectCode, expectMatch } from "../command.mjs";

const script = `\\set id random(1, 1000)
select name, country from customers where customer_id = :id;
`;

async function pgbench(gateway, protocol) {
  const folder = mkdtempSync(join(tmpdir(), "gateway-pgbench-"));
  const file = join(folder, "point.sql");
  writeFileSync(file, script);
  const args = ["-n", "-M", protocol, "-f", file, "-c", "8", "-t", "50", "-h", "127.0.0.1"];
  try {
    const result = await command("pgbench", [
      ...args,
      "-p",
      gateway.ports.postgres,
      "-U",
      "alice",
      "postgres",
    ]);
    expectCode(result);
    expectMatch(result.stdout, /number of transactions actually processed: 400\/400/);
    expectMatch(result.stdout, /number of failed transactions: 0 /);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const pgbenchCases = {
  tool: "pgbench",
  cases: {
    "eight clients, simple protocol": (gateway) => pgbench(gateway, "simple"),
    "eight clients, extended protocol": (gateway) => pgbench(gateway, "extended"),
    "eight clients, prepared statements": (gateway) => pgbench(gateway, "prepared"),
  },
};
