/** `gateway admin reset-password`: a new password for a user of the admin API, for whoever has the machine and the config. */
import { newHash } from "@gateway/access/client/static/inline.ts";
import type { AdminUser, Store } from "@gateway/control/store/store.ts";
import { passwordCharsMin } from "../control/passwords.ts";
import { hashRefusals } from "./hashPassword.ts";
import { readPassword } from "./readPassword.ts";
import { exitCode, type Terminal } from "./terminal.ts";
import { withHostAccess } from "./withHostAccess.ts";

export function resetPasswordCommand(
  { user, file }: { readonly user: string; readonly file: string },
  terminal: Terminal,
): Promise<number> {
  return withHostAccess(file, terminal, async ({ store, nowMs }) => {
    const password = await readPassword(terminal);
    if (password.length < passwordCharsMin) {
      terminal.err(`the password has fewer than ${passwordCharsMin} characters\n`);
      return exitCode.config;
    }
    const made = await newHash(password);
    if (!made.ok) {
      terminal.err(`${hashRefusals[made.error]}\n`);
      return exitCode.config;
    }
    const problem = await reset(store, user, made.value, nowMs());
    if (problem !== undefined) {
      terminal.err(`${problem}\n`);
      return exitCode.startFailed;
    }
    terminal.out(`${user} has a new password; every session of theirs has ended.\n`);
    return exitCode.clean;
  });
}

/** Makes the user an enabled administrator with this password; answers what went wrong. */
async function reset(
  store: Store,
  name: string,
  passwordHash: string,
  nowMs: number,
): Promise<string | undefined> {
  const known = await store.users.get(name);
  if (!known.ok) return unavailable(known.error.detail);
  const before = known.value;
  const user: AdminUser = {
    name,
    role: before?.role ?? "admin",
    passwordHash,
    disabled: false,
    version: (before?.version ?? 0) + 1,
    createdAt: before?.createdAt ?? nowMs,
    updatedAt: nowMs,
  };
  const put = await store.users.put(user, before?.version);
  if (!put.ok) return unavailable(put.error.detail);
  if (put.value !== "written") return "somebody changed the user at the same time; run it again";
  const ended = await store.users.removeSessionsOf(name);
  if (!ended.ok) return unavailable(ended.error.detail);
  const audit = await store.audit.append({
    at: nowMs,
    by: "host",
    address: undefined,
    action: before === undefined ? "create" : "resetPassword",
    target: `user/${name}`,
    detail: {},
  });
  return audit.ok ? undefined : unavailable(audit.error.detail);
}

function unavailable(detail: string): string {
  return `the database is not available (${detail})`;
}
