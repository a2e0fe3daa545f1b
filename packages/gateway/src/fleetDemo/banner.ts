/** What the demo fleet prints: addresses, and commands to paste. */
import { adminName, groupName } from "./config.ts";
import { urlOf, type Arrival } from "./edit.ts";
import type { DemoProcess } from "./process.ts";

export interface BannerParts {
  readonly control: DemoProcess;
  readonly workers: readonly DemoProcess[];
  /** A query over the sample. */
  readonly example: string;
  readonly password: string;
  /** The console's address, which signs a browser in. */
  readonly console: string;
}

export function fleetBanner({ control, workers, example, password, console }: BannerParts): string {
  const url = urlOf(control);
  const login = `-u ${adminName}:${password}`;
  return [
    "",
    "The fleet is ready. Open the console, or paste one of these:",
    "",
    `  Console         ${console}`,
    "    signs one browser of this machine in, once, within ten minutes",
    "",
    `  Control plane   ${url}   user ${adminName}, password ${password}`,
    `    curl ${login} ${url}/admin/workers`,
    `    curl ${login} '${url}/admin/queries?limit=5'`,
    "",
    ...workers.flatMap((worker) => workerLines(worker, example)),
  ].join("\n");
}

function workerLines(worker: DemoProcess, example: string): readonly string[] {
  const { ports } = worker;
  const http = `http://127.0.0.1:${ports["trinoHttp"]}`;
  return [
    `  Worker ${worker.name}`,
    `    psql "host=127.0.0.1 port=${ports["postgresWire"]} user=$USER" -c "${example}"`,
    `    mysql -h 127.0.0.1 -P ${ports["mysqlWire"]} -u "$USER" -e "select 42"`,
    `    curl -s ${http}/v1/statement -H "X-Trino-User: $USER" -d "select 42"`,
    `    curl ${urlOf(worker)}/worker/status`,
    "",
  ];
}

export function editText(maxRows: number, arrivals: readonly Arrival[]): string {
  return [
    "",
    `An edit at the control plane: clusterGroups.${groupName}.maxRows is ${maxRows} now.`,
    ...arrivals.map(({ worker, ms }) => `  ${worker} runs under it ${ms} ms after the answer`),
    "",
    "Ctrl-C stops everything: running queries finish first.",
    "",
  ].join("\n");
}
