/** `gateway start`: a config file in the foreground until a signal. */
import type { ListenError } from "@gateway/core/port/frontend.ts";
import { checkConfig, loadDocument } from "../config/load.ts";
import { lineOf, type ConfigProblem } from "../config/report.ts";
import { resolveSecrets } from "../config/secrets.ts";
import { nodeHost } from "../host/node.ts";
import { start } from "../roles.ts";
import type { StartError } from "../running.ts";
import { runUntilSignal } from "./signals.ts";
import { exitCode, type Terminal } from "./terminal.ts";

export async function startCommand(file: string, terminal: Terminal): Promise<number> {
  const document = loadDocument(file);
  if (!document.ok) return refuse(document.error, terminal);
  // Checked before and after the secrets are in place: the first finds what `validate` finds.
  const written = checkConfig(document.value);
  if (!written.ok) return refuse(written.error, terminal);
  const resolved = resolveSecrets(document.value, terminal.environment);
  if (!resolved.ok) return refuse(resolved.error, terminal);
  const config = checkConfig(resolved.value);
  if (!config.ok) return refuse(config.error, terminal);

  const host = nodeHost(terminal.bundle, config.value.gateway.logLevel);
  const running = await start(config.value, host);
  if (!running.ok) return refuseStart(running.error, terminal);
  for (const { kind, host: address, port, tls } of running.value.listeners) {
    host.log.write("info", "listener.open", { kind, address, port, tls });
  }
  return runUntilSignal(running.value, config.value.gateway, host);
}

function refuse(problems: readonly ConfigProblem[], terminal: Terminal): number {
  for (const problem of problems) terminal.err(`${lineOf(problem)}\n`);
  return exitCode.config;
}

const reasons: Record<ListenError["reason"], string> = {
  portInUse: "the port is in use",
  addressUnavailable: "the address can not be bound",
  portForbidden: "the port needs more privileges",
  certificate: "the certificate can not be used",
};

/** Prints why listeners or clusters could not be opened. */
export function refuseStart(errors: readonly StartError[], terminal: Terminal): number {
  for (const error of errors) {
    const line =
      "cluster" in error
        ? `clusters.${error.cluster}: ${error.reason}`
        : `${error.kind}: ${reasons[error.reason]} (${error.detail})`;
    terminal.err(`${line}\n`);
  }
  return exitCode.startFailed;
}
