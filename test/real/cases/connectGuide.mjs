/** The commands of docs/connect.md, each line as it stands there, against a gateway with TLS and passwords. */
import { mkdtempSync, copyFileSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashSync } from "bcryptjs";
import { command, expectCode, expectMatch } from "../command.mjs";
import { certificateIn, freePlace, startConfigured } from "../configuredGateway.mjs";

const text = readFileSync(new URL("../../../docs/connect.md", import.meta.url), "utf8");
const listeners = { 5432: "postgresWire", 3306: "mysqlWire", 8080: "trinoHttp" };

export const connectGuideCases = ["psql", "mariadb", "curl"].map((tool) => ({
  tool,
  cases: { "the command of docs/connect.md": () => runsAsWritten(tool) },
}));

async function runsAsWritten(tool) {
  const { ports, folder, stop } = await startConfigured(async (made) =>
    configOf(await certificateIn(made)),
  );
  const place = mkdtempSync(join(tmpdir(), "gateway-connect-"));
  try {
    copyFileSync(join(folder, "cert.pem"), join(place, "ca.pem"));
    const result = await command("sh", ["-c", lineOf(tool, ports)], { cwd: place });
    // curl is answered before the rows come.
    expectMatch(expectCode(result).stdout, tool === "curl" ? /"nextUri"|\[\[42\]\]/ : /\b42\b/);
  } finally {
    await stop();
    rmSync(place, { recursive: true, force: true });
  }
}

/** Debian's `mysql` is MariaDB's client. */
function lineOf(tool, ports) {
  const word = tool === "mariadb" ? "mysql" : tool;
  const [, block = ""] = /^```sh\n(.*?)^```/ms.exec(text) ?? [];
  const line = block.split("\n").find((one) => new RegExp(`(?:^| )${word} `).test(one)) ?? "false";
  const usual = Object.keys(listeners).find((port) => new RegExp(`[ =:]${port}\\b`).test(line));
  return line
    .replace(new RegExp(`([ =:])${usual}\\b`), `$1${ports[listeners[usual]]}`)
    .replace("gateway.example", "127.0.0.1")
    .replace(/\bmysql /, "mariadb ");
}

function configOf(tls) {
  const ann = { passwordHash: hashSync("ann-secret", 4) };
  const listener = { ...freePlace, tls };
  return {
    gateway: {
      frontends: { postgresWire: listener, mysqlWire: listener, trinoHttp: listener },
      adminApi: freePlace,
      persistence: { type: "inMemory" },
    },
    clusters: { local: { engine: "duckDb" } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: 4 } },
    routingFallback: "default",
    auth: { provider: "static", staticUsers: { users: { ann } } },
  };
}
