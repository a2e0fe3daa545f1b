/** What every command on a database begins and ends with: the config, the access, and giving it back. */
import { err, ok, type Result } from "@gateway/core/result.ts";
import { closeControl, openControl, type ControlParts } from "../control/openControl.ts";
import { nodeHost } from "../host/node.ts";
import { printProblems, readConfig, type ReadConfig } from "./configFile.ts";
import { exitCode, type Terminal } from "./terminal.ts";

/** The configuration and the store behind a config file's database. */
export interface HostAccess extends ControlParts, AsyncDisposable {
  /** Unix milliseconds. */
  readonly nowMs: () => number;
}

/** Runs `work` with the database behind `file`; says why it can not be had otherwise. */
export async function withHostAccess(
  file: string,
  terminal: Terminal,
  work: (access: HostAccess, read: ReadConfig) => Promise<number>,
): Promise<number> {
  const read = readConfig(file, terminal);
  if (!read.ok) {
    printProblems(read.error, terminal);
    return exitCode.config;
  }
  const opened = await openHostAccess(read.value, terminal);
  if (!opened.ok) {
    terminal.err(`${opened.error}\n`);
    return exitCode.startFailed;
  }
  await using access = opened.value;
  return await work(access, read.value);
}

/** Answers why the database can not be used. */
export async function openHostAccess(
  { config, document }: ReadConfig,
  { bundle }: Pick<Terminal, "bundle">,
): Promise<Result<HostAccess, string>> {
  if (config.gateway.persistence.type === "inMemory") {
    return err("gateway.persistence.type: inMemory keeps nothing that a command could reach");
  }
  const host = nodeHost(bundle, "error");
  const opened = await openControl({ config, document, host, bundle, access: "reach" });
  if (!opened.ok) return opened;
  const { store, configuration } = opened.value;
  return ok({
    store,
    configuration,
    nowMs: () => host.clock.unixMs(),
    [Symbol.asyncDispose]: () => closeControl(opened.value),
  });
}
