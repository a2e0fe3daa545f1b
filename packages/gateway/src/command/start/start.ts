/** `gateway start`: a config file in the foreground until a signal. */
import { logCrash } from "../../host/log/log.ts";
import { boundFreed, giveBackFreed } from "../../host/memory/freedMemory.ts";
import { libraryFolders, nodeHost, type NodeHost } from "../../host/node.ts";
import { Channel } from "../../processes/channel.ts";
import { configOfPart, ownPart } from "../../processes/part.ts";
import { start } from "../../roles.ts";
import { printProblems, readConfig, type ReadConfig } from "../configFile.ts";
import { refuseStart } from "./refuseStart.ts";
import { reloadOnSignal } from "./reload.ts";
import { nextSignal, runUntilSignal } from "./signals.ts";
import { exitCode, type Terminal } from "../terminal.ts";

export async function startCommand(file: string, terminal: Terminal): Promise<number> {
  const read = readConfig(file, terminal);
  if (!read.ok) {
    printProblems(read.error, terminal);
    return exitCode.config;
  }
  const { bundle, environment } = terminal;
  const { logLevel, egress, processes = 1 } = read.value.config.gateway;
  const host = nodeHost(bundle, logLevel, egress, libraryFolders(file, environment));
  using _crash = logCrash(host.log);
  const part = ownPart(environment);
  if (part === undefined && processes > 1) {
    const { runProcesses } = await import("./startProcesses.ts");
    return await runProcesses(read.value.config.gateway, processes, { host, terminal });
  }
  if (part === undefined) return await runOne(read.value, file, { host, terminal });
  const siblings = new Channel(part, process, host.log);
  const config = configOfPart(read.value.config, part);
  return await runOne({ ...read.value, config }, file, {
    host: { ...host, siblings },
    channel: siblings,
    terminal,
  });
}

interface RunParts {
  readonly host: NodeHost;
  /** To the first process; absent where this one is alone. */
  readonly channel?: Channel;
  readonly terminal: Terminal;
}

/** This process alone, or as one of several. */
async function runOne(
  { config, document }: ReadConfig,
  file: string,
  { host, channel, terminal }: RunParts,
): Promise<number> {
  const { bundle, environment } = terminal;
  const contents = { kind: "none" } as const;
  await boundFreed();
  const running = await start({ config, document, host, bundle, environment, contents });
  if (!running.ok) return refuseStart(running.error, terminal);
  // Before anybody can know that it runs: without a listener the signal would end the process.
  using _reload = reloadOnSignal(running.value, file, host);
  using _freed = await giveBackFreed(host.clock);
  for (const { kind, host: address, port, tls } of running.value.listeners) {
    host.log.write("info", "listener.open", { kind, address, port, tls });
  }
  const { setupToken } = running.value;
  if (setupToken !== undefined) terminal.out(setupText(setupToken));
  channel?.started();
  const signal = () => channel?.nextSignal() ?? nextSignal();
  // Awaited here, because this function's end stops listening to the signal.
  return await runUntilSignal(running.value, config.gateway, { host, signal });
}

/** Printed and not logged: whoever reads it may become the first administrator. */
function setupText(token: string): string {
  return [
    "No user of the admin API exists yet. Make the first administrator once, with this token: open",
    "ADMIN_URL/studio/ and give it there, or",
    `  curl -X POST ADMIN_URL/admin/setup -H 'content-type: application/json' \\`,
    `    -d '{"token":"${token}","name":"admin","password":"..."}'`,
    "",
  ].join("\n");
}
