/**
 * Opens connections as statements need them: logged in under the whole name that was asked for, and reading
 * text the way this gateway writes it.
 */
import type { Host } from "@gateway/core/port/host.ts";
import { abortedWith } from "@gateway/core/tool/canceller.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { ask } from "./control.ts";
import { logIn, type Login, type LoginFailure } from "./login.ts";
import { Member } from "./member.ts";

/** Characters that every server of the family takes of a name. Longer ones are cut by some of them, to what may be another's. */
const wholeNameLength = 32;

/** Modes under which strings and names are read in another way than everything here writes them. */
const readingModes: ReadonlySet<string> = new Set(["NO_BACKSLASH_ESCAPES", "ANSI_QUOTES", "ANSI"]);

/** Logs in and checks the connection. One that is not as it must be is closed. */
export async function connected(
  login: Login,
  host: Pick<Host, "egress" | "clock">,
): Promise<Result<Member, LoginFailure>> {
  const made = await logIn(login, host);
  if (!made.ok) return made;
  const member = new Member(made.value, login.database);
  const limit = new AbortController();
  using _timer = host.clock.timer(login.server.connectTimeoutMs, () => limit.abort());
  using _with = login.signal && abortedWith(login.signal, limit);
  const refused =
    (await hasItsName(member, login, limit.signal)) ?? (await readsPlainly(member, limit.signal));
  if (refused === undefined) return ok(member);
  member.destroy();
  return err({ number: undefined, sqlState: undefined, code: refused });
}

/** Code of a login under another name than the one that was asked for. */
export const otherName = "GATEWAY_OTHER_NAME";

async function hasItsName(
  member: Member,
  { account }: Login,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (account === undefined || account.user.length <= wholeNameLength) return undefined;
  const asked = await ask(member, "SELECT USER()", signal);
  if (!asked.ok) return asked.error.code;
  return String(asked.value[0]?.[0]).includes(account.user) ? undefined : otherName;
}

/**
 * Takes a new connection out of a mode that reads text in another way. A client's `SET sql_mode` never reaches it.
 * The code of what went wrong, if anything.
 */
export async function readsPlainly(
  member: Member,
  signal: AbortSignal,
): Promise<string | undefined> {
  const asked = await ask(member, "SELECT @@sql_mode", signal);
  if (!asked.ok) return asked.error.code;
  const written = asked.value[0]?.[0];
  const modes = typeof written === "string" ? written.split(",") : [];
  if (!modes.some((mode) => readingModes.has(mode))) return undefined;
  const plain = modes.filter((mode) => /^\w+$/.test(mode) && !readingModes.has(mode));
  const set = await ask(member, `SET SESSION sql_mode = '${plain.join(",")}'`, signal);
  return set.ok ? undefined : set.error.code;
}
