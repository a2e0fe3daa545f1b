/** `gateway hash-password`: reads a password and prints its bcrypt hash. */
import { newHash, type HashRefusal } from "@gateway/access/client/static/newHash.ts";
import { readPassword } from "./readPassword.ts";
import { exitCode, type Terminal } from "./terminal.ts";

export async function hashPasswordCommand(terminal: Terminal): Promise<number> {
  const made = await newHash(await readPassword(terminal));
  if (!made.ok) {
    terminal.err(`${hashRefusals[made.error]}\n`);
    return exitCode.config;
  }
  terminal.out(`${made.value}\n`);
  return exitCode.clean;
}

/** Why a password can not be used, for a terminal. */
export const hashRefusals: Record<HashRefusal, string> = {
  empty: "the password is empty",
  tooLong: "the password is longer than 72 bytes, which is all that bcrypt looks at",
};
