/** What commands on the host use: the configuration and the store behind a config file's database. */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { ReadConfig } from "../command/configFile.ts";
import type { Terminal } from "../command/terminal.ts";
import { nodeHost } from "../host/node.ts";
import { closeControl, openControl, type ControlParts } from "./openControl.ts";

export interface HostAccess extends ControlParts, AsyncDisposable {
  /** Unix milliseconds. */
  readonly nowMs: () => number;
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
