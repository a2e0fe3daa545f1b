/** What a command may use of the process, and how it is called. */
import type { Readable } from "node:stream";
import type { Environment } from "../config/secrets.ts";

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly environment: Environment;
  /** Folder of the bundle, which holds the thread programs. */
  readonly bundle: URL;
}

/** Exit codes, the same for every command. */
export const exitCode = {
  clean: 0,
  config: 1,
  startFailed: 2,
  drainOverrun: 3,
} as const;

export const usage = `Usage: gateway COMMAND

  start --config FILE      run in the foreground (default FILE: gateway.yaml)
  validate --config FILE   list every problem of a config; opens nothing
  hash-password            read a password, print its bcrypt hash
  quickstart [--data DIR] [--free-ports]
                           sample data (or the files of DIR) on loopback, no login
`;
