/** `gateway start`: a config file in the foreground until a signal. */
import { logCrash } from "../host/log/log.ts";
import { boundFreed, giveBackFreed } from "../host/memory/freedMemory.ts";
import { libraryFolders, nodeHost } from "../host/node.ts";
import { start } from "../roles.ts";
import { startErrorText, type StartError } from "../starting.ts";
import { printProblems, readConfig } from "./configFile.ts";
import { reloadOnSignal } from "./reload.ts";
import { runUntilSignal } from "./signals.ts";
import { exitCode, type Terminal } from "./terminal.ts";

export async function startCommand(file: string, terminal: Terminal): Promise<number> {
  const read = readConfig(file, terminal);
  if (!read.ok) {
    printProblems(read.error, terminal);
    return exitCode.config;
  }
  const { config, document } = read.value;
  const { bundle, environment } = terminal;
  const { logLevel, egress } = config.gateway;
  const host = nodeHost(bundle, logLevel, egress, libraryFolders(file, environment));
  using _crash = logCrash(host.log);
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
  // Awaited here, because this function's end stops listening to the signal.
  return await runUntilSignal(running.value, config.gateway, host);
}

/** Prints why listeners or clusters could not be opened. */
export function refuseStart(errors: readonly StartError[], terminal: Terminal): number {
  for (const error of errors) terminal.err(`${startErrorText(error)}\n`);
  return exitCode.startFailed;
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
