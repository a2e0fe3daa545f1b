/** Prints why listeners or clusters could not be opened. */
import { startErrorText, type StartError } from "../../starting.ts";
import { exitCode, type Terminal } from "../terminal.ts";

export function refuseStart(errors: readonly StartError[], terminal: Terminal): number {
  for (const error of errors) terminal.err(`${startErrorText(error)}\n`);
  return exitCode.startFailed;
}
