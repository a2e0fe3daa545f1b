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
  /** A drill was run, and an invariant did not hold. */
  violated: 4,
} as const;

export const usage = `Usage: gateway COMMAND [--config FILE]      (default FILE: gateway.yaml)

  start                    run in the foreground
  validate [FILE ...]      list every problem of configs; opens nothing
  migrate                  bring the database up to this program
  config diff              what the file has otherwise than the database; 1 when it differs
  config apply             make the database hold what the file says
  config export            print what the database holds, as a file
  config new-epoch         begin a new log of revisions, after an older backup was restored
  config rekey             seal every secret in the database under the current key
  explain QUERY_ID         why a query went where it went
  admin reset-password [--user NAME]
                           read a password, give it to a user of the admin API (default: admin)
  import pgbouncer FILE    print a config for what a PgBouncer's does
  drill --target URL --worker URL …
                           break a staging fleet and report what held (docs/drills.md)
  hash-password [--scram]  read a password, print its bcrypt hash or SCRAM verifier
  fleet                    a control plane and two workers on this machine, with sample data
  quickstart [--data DIR] [--free-ports]
                           sample data (or the files of DIR) on loopback, no login
`;
