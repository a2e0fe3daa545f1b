/** What the quick start prints: for each listener its address and a command to paste. */
import type { OpenListener, Running } from "../running.ts";

const titles: Readonly<Record<string, string>> = {
  trinoHttp: "Trino",
  postgresWire: "PostgreSQL",
  mysqlWire: "MySQL",
  adminApi: "Operations",
};

/** `example` is a query over the data that is served. */
export function banner(running: Running, example: string): string {
  const rows = running.listeners.map((listener) => {
    const title = (titles[listener.kind] ?? listener.kind).padEnd(11);
    return `  ${title} ${`${listener.host}:${listener.port}`.padEnd(17)} ${commandOf(listener, example)}`;
  });
  return [
    "",
    "Query Gateway is ready. Paste one of these:",
    "",
    ...rows,
    "",
    "Everything listens on this machine only and nobody is asked for a password. To turn on users",
    "and TLS, write a config (docs/reference/config.md: auth, gateway.frontends.*.tls) and run",
    "  npx gateway start --config gateway.yaml",
    "Ctrl-C stops: running queries finish first.",
    "",
    "",
  ].join("\n");
}

function commandOf({ kind, host, port }: OpenListener, example: string): string {
  switch (kind) {
    case "postgresWire":
      return `psql "host=${host} port=${port} user=$USER" -c "${example}"`;
    case "mysqlWire":
      return `mysql -h ${host} -P ${port} -u "$USER" -e "${example}"`;
    case "trinoHttp":
      return `trino --server http://${host}:${port} --execute "${example}"\n${" ".repeat(31)}curl -s http://${host}:${port}/v1/statement -H "X-Trino-User: $USER" -d "${example}"`;
    default:
      return `curl http://${host}:${port}/metrics`;
  }
}
