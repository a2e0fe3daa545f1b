/** `gateway hash-password`: reads a password and prints its bcrypt hash, or with `--scram` its SCRAM verifier. */
import { newHash, type HashRefusal } from "@gateway/access/client/static/inline.ts";
import { newVerifier } from "@gateway/access/client/static/scram.ts";
import { readPassword } from "./readPassword.ts";
import { exitCode, type Terminal } from "./terminal.ts";

/** What is made of the password. */
export type HashForm = "bcrypt" | "scram";

export async function hashPasswordCommand(
  terminal: Terminal,
  form: HashForm = "bcrypt",
): Promise<number> {
  const password = await readPassword(terminal);
  const made = form === "scram" ? await newVerifier(password) : await newHash(password);
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
