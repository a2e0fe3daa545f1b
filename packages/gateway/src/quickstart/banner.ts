/** What the quick start prints: for each listener its address and a command to paste. */
import type { OpenListener, Running } from "../running.ts";
import type { Address } from "./there.ts";

/** Whom the console's link signs in; made by it where there is no user yet. */
const firstAdminName = "admin";

/** Columns before an address or a command. */
const indent = 14;

const titles: Readonly<Record<string, string>> = {
  trinoHttp: "Trino",
  postgresWire: "PostgreSQL",
  mysqlWire: "MySQL",
  mcp: "MCP",
  clickhouseHttp: "ClickHouse",
  flightSql: "Flight SQL",
  adminApi: "Admin",
};

/** `example` is a query over the data that is served. */
export function banner(running: Running, example: string): string {
  const admin = running.listeners.find(({ kind }) => kind === "adminApi");
  const link = running.links?.make(firstAdminName);
  const console =
    admin === undefined || link === undefined
      ? []
      : [
          `  Console     http://${admin.host}:${admin.port}${link.path}`,
          "              signs one browser of this machine in, once, within ten minutes",
          "",
        ];
  const sections = running.listeners.flatMap((listener) => {
    const title = (titles[listener.kind] ?? listener.kind).padEnd(indent - 2);
    const commands = commandsOf(listener, example, running.setupToken).map(
      (line) => " ".repeat(indent) + line,
    );
    return [`  ${title}${listener.host}:${listener.port}`, ...commands, ""];
  });
  return [
    "",
    "Query Gateway is ready. Open the console, or paste one of these:",
    "",
    ...console,
    ...sections,
    "Everything listens on this machine only and nobody is asked for a password. To turn on users",
    "and TLS, write a config (docs/reference/config.md: auth, gateway.frontends.*.tls) and run",
    "  npx gateway start --config gateway.yaml",
    "Ctrl-C stops: running queries finish first.",
    "",
    "",
  ].join("\n");
}

/** What a second quick start of a folder prints. */
export function alreadyThere(addresses: readonly Address[]): string {
  return [
    "A quick start runs here already. It listens on:",
    ...addresses.map(({ kind, host, port }) => `  ${titles[kind] ?? kind} ${host}:${port}`),
    "",
  ].join("\n");
}

export const anotherBeside = "Another one beside it: npm start -- --free-ports\n";

function commandsOf(
  { kind, host, port }: OpenListener,
  example: string,
  setupToken: string | undefined,
): readonly string[] {
  const url = `http://${host}:${port}`;
  switch (kind) {
    case "postgresWire":
      return [`psql "host=${host} port=${port} user=$USER" -c "${example}"`];
    case "mysqlWire":
      return [`mysql -h ${host} -P ${port} -u "$USER" -e "${example}"`];
    case "trinoHttp":
      return [
        `trino --server ${url} --execute "${example}"`,
        `curl -s ${url}/v1/statement -H "X-Trino-User: $USER" -d "${example}"`,
      ];
    case "mcp":
      return [
        `curl -s ${url}/mcp -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' \\`,
        `  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`,
      ];
    case "clickhouseHttp":
      return [`curl -s "${url}/?user=$USER" -d "${example}"`];
    case "flightSql":
      return [`# any client of Arrow Flight SQL, over gRPC: grpc://${host}:${port}`];
    default:
      return [`curl ${url}/metrics`, ...(setupToken === undefined ? [] : setup(url, setupToken))];
  }
}

/** How to become the first administrator; whoever starts the gateway sees it once. */
function setup(url: string, token: string): readonly string[] {
  const body = `{"token":"${token}","name":"admin","password":"at least 12 characters"}`;
  return [`curl ${url}/admin/setup -H 'content-type: application/json' \\`, `  -d '${body}'`];
}
