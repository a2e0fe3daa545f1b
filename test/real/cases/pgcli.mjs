/** pgcli from PyPI: what it asks when it starts, and its own commands. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, expectCode, expectMatch } from "../command.mjs";
import { pgcli } from "./pythonPostgresTool.mjs";

async function run(gateway, ...args) {
  const home = await mkdtemp(join(tmpdir(), "gateway-pgcli-"));
  const where = ["-h", "127.0.0.1", "-p", gateway.ports.postgres, "-U", "alice", "-d", "memory"];
  const env = { HOME: home, XDG_CONFIG_HOME: home, PAGER: "cat" };
  try {
    return expectCode(await command(pgcli, [...where, "-w", "--less-chatty", ...args], { env }))
      .stdout;
  } finally {
    await rm(home, { recursive: true });
  }
}

export const pgcliCases = {
  tool: "pythonPostgres",
  cases: {
    "pgcli: runs statements and its commands": async (gateway) => {
      const found = await run(gateway, "-c", "select 41 + 1 as answer", "-c", "\\dt", "-c", "\\l");
      expectMatch(found, /\| 42 +\|/);
      expectMatch(found, /\| main +\| customers +\| table/);
      expectMatch(found, /\| memory +\|/);
    },
    "pgcli: lists databases": async (gateway) => {
      expectMatch(await run(gateway, "--list"), /memory/);
    },
    "pgcli: its completion reads schemas, tables, columns, functions and types": async (
      gateway,
    ) => {
      expectMatch(
        await run(gateway, "-c", "\\d orders", "-c", "\\df abs", "-c", "\\dn"),
        /order_id/,
      );
    },
  },
};
