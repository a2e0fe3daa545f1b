/** `npm start`: a standalone gateway on loopback over sample data or a folder of files, and what to paste to use it. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Contents } from "@gateway/engines/descriptor.ts";
import { checkConfig } from "../config/load.ts";
import { lineOf } from "@gateway/control/config/check/report.ts";
import { logCrash } from "../host/log/log.ts";
import { boundFreed, giveBackFreed } from "../host/memory/freedMemory.ts";
import { nodeHost } from "../host/node.ts";
import { alreadyThere, anotherBeside, banner } from "../quickstart/banner.ts";
import { quickstartConfig } from "../quickstart/config.ts";
import { holderOf, tellWhere } from "../quickstart/there.ts";
import { start } from "../roles.ts";
import type { StartError } from "../starting.ts";
import { nextSignal, runUntilSignal } from "./start/signals.ts";
import { refuseStart } from "./start/refuseStart.ts";
import { exitCode, type Terminal } from "./terminal.ts";

/** Every client that the banner names runs this text as it stands. */
const sampleExample = "select country, count(*) from customers group by country order by country";
const folderExample = "select table_name from information_schema.tables order by table_name";

export interface QuickstartOptions {
  /** A folder whose files are served instead of the sample. */
  readonly data: string | undefined;
  /** Let the system choose the ports. */
  readonly freePorts: boolean;
}

export async function quickstartCommand(
  { data, freePorts }: QuickstartOptions,
  terminal: Terminal,
): Promise<number> {
  const folder = data === undefined ? undefined : resolve(data);
  if (folder !== undefined && !isFolder(folder)) {
    terminal.err(`--data: ${folder} is not a folder\n`);
    return exitCode.config;
  }
  const document = quickstartConfig({ folder, free: freePorts });
  const config = checkConfig(document);
  if (!config.ok) {
    // The built-in config is checked like a user's; a folder name can still be refused.
    for (const problem of config.error) terminal.err(`${lineOf(problem)}\n`);
    return exitCode.config;
  }
  const host = nodeHost(terminal.bundle, "warn");
  using _crash = logCrash(host.log);
  terminal.out(folder === undefined ? "Making sample data …\n" : `Reading ${folder} …\n`);
  const contents: Contents = folder === undefined ? { kind: "sample" } : { kind: "folder", folder };
  const { bundle, environment } = terminal;
  const options = { config: config.value, document, host, bundle, environment, contents };
  const { persistence } = config.value.gateway;
  await boundFreed();
  const running = await start(options);
  if (!running.ok) {
    const code = refuseStart(running.error, terminal);
    const there = await holderOf(persistence);
    if (there !== undefined) terminal.err(alreadyThere(there));
    if (there !== undefined || running.error.some(isListenError)) terminal.err(anotherBeside);
    return code;
  }
  using _told = tellWhere(persistence, running.value.listeners);
  using _freed = await giveBackFreed(host.clock);
  terminal.out(banner(running.value, folder === undefined ? sampleExample : folderExample));
  const code = await runUntilSignal(running.value, config.value.gateway, {
    host,
    signal: nextSignal,
  });
  terminal.out("\nStopped.\n");
  return code;
}

function isListenError(error: StartError): boolean {
  return !("cluster" in error || "part" in error);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
