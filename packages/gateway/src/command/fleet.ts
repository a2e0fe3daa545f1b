/** `npm run fleet`: a control plane and two workers as processes of this machine, with sample data, and an edit that arrives. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { editText, fleetBanner } from "../fleetDemo/banner.ts";
import { controlPlaneConfig, workerConfig, type FleetSecrets } from "../fleetDemo/config.ts";
import { consoleOf, editAndWatch, ready } from "../fleetDemo/edit.ts";
import { startProcess, type DemoProcess } from "../fleetDemo/process.ts";
import { writeSample } from "../fleetDemo/sample.ts";
import { nodeHost, type NodeHost } from "../host/node.ts";
import { exitCode, type Terminal } from "./terminal.ts";

const workerNames = ["w1", "w2"];
/** The edit's value, large enough that no pasted query is refused. */
const editedMaxRows = 10_000;

/** Runs until a signal, then ends what it started, in the order that loses nothing: workers first. */
export async function fleetCommand(terminal: Terminal): Promise<number> {
  const host = nodeHost(terminal.bundle, "warn");
  const stopped = nextSignal();
  const folder = await mkdtemp(join(tmpdir(), "gateway-fleet-"));
  const started: DemoProcess[] = [];
  try {
    const shown = await Promise.race([stopped, show({ terminal, host, folder, started })]);
    if (typeof shown !== "string" && !shown.ok) {
      terminal.err(`${shown.error}\n`);
      return exitCode.startFailed;
    }
    const first = await Promise.race([stopped, ...started.map(endedOf)]);
    if (first === "signal") return exitCode.clean;
    terminal.err(`${first} ended by itself\n`);
    return exitCode.drainOverrun;
  } finally {
    terminal.out("\nStopping …\n");
    const [control, ...workers] = started;
    await Promise.all(workers.map((worker) => worker.end()));
    await control?.end();
    await rm(folder, { recursive: true, force: true });
  }
}

interface ShowParts {
  readonly terminal: Terminal;
  readonly host: NodeHost;
  readonly folder: string;
  /** Grows as processes start: the control plane first. */
  readonly started: DemoProcess[];
}

async function show({ terminal, host, folder, started }: ShowParts): Promise<Result<void, string>> {
  terminal.out("Starting a control plane and two workers …\n");
  const data = join(folder, "data");
  await mkdir(data);
  const example = await writeSample(data);
  const secrets: FleetSecrets = { fleet: randomText(host, 32), password: randomText(host, 12) };
  const begin = async (name: string, config: object): Promise<Result<DemoProcess, string>> => {
    const file = join(folder, `${name}.yaml`);
    const begun = await startProcess({ name, bundle: terminal.bundle, file, config });
    if (begun.ok) started.push(begun.value);
    return begun;
  };

  const places = { data, database: join(folder, "db") };
  const control = await begin("control", controlPlaneConfig(places, secrets));
  if (!control.ok) return control;
  const { adminApi: controlPort = 0 } = control.value.ports;
  const begun = await Promise.all(
    workerNames.map((name) => begin(name, workerConfig({ name, controlPort, data }, secrets))),
  );
  const workers = begun.flatMap((worker) => (worker.ok ? [worker.value] : []));
  for (const worker of begun) if (!worker.ok) return err(worker.error);
  const configured = await ready(workers, host.clock);
  if (!configured.ok) return configured;

  const { password } = secrets;
  const link = await consoleOf(control.value, password);
  if (!link.ok) return link;
  const shown = { control: control.value, workers, example, password, console: link.value };
  terminal.out(fleetBanner(shown));
  const edit = { clock: host.clock, password, maxRows: editedMaxRows };
  const arrivals = await editAndWatch(control.value, workers, edit);
  if (!arrivals.ok) return arrivals;
  terminal.out(editText(editedMaxRows, arrivals.value));
  return ok(undefined);
}

async function endedOf(demo: DemoProcess): Promise<string> {
  await demo.ended;
  return demo.name;
}

function randomText(host: NodeHost, bytes: number): string {
  return Buffer.from(host.randomBytes(bytes)).toString("base64url");
}

const signals = ["SIGINT", "SIGTERM"] as const;

/** The first signal; a second one ends this process at once, and with it what it started. */
function nextSignal(): Promise<"signal"> {
  return new Promise((resolve) => {
    // A process that waits for nothing but a signal would end by itself.
    const alive = setInterval(() => {}, 60_000);
    const handle = (): void => {
      clearInterval(alive);
      for (const name of signals) {
        process.off(name, handle);
        process.once(name, () => process.exit(exitCode.drainOverrun));
      }
      resolve("signal");
    };
    for (const name of signals) process.on(name, handle);
  });
}
