/** Opens connections: the first of the cluster's hosts that takes the login and is such a server as is wanted. */
import type { Host } from "@gateway/core/port/host.ts";
import { err, type Result } from "@gateway/core/result.ts";
import type { SessionAttributes } from "../config.ts";
import { ask } from "./ask.ts";
import { logIn, type Account, type LoginFailure } from "./login/login.ts";
import type { Member } from "./member.ts";
import type { Server } from "./reach.ts";

/** Where and as whom. */
export interface Destination {
  readonly servers: readonly Server[];
  readonly wanted: SessionAttributes;
  readonly database: string;
  readonly account: Account;
  readonly signal?: AbortSignal | undefined;
}

/** Logs in. The failure of the first host stands when none will do; a refused login is not tried elsewhere. */
export async function connected(
  destination: Destination,
  host: Pick<Host, "egress" | "clock">,
): Promise<Result<Member, LoginFailure>> {
  const { wanted } = destination;
  if (wanted !== "prefer-standby") return await firstOf(destination, wanted, host);
  const standby = await firstOf(destination, "standby", host);
  return standby.ok ? standby : await firstOf(destination, "any", host);
}

async function firstOf(
  { servers, database, account, signal }: Destination,
  wanted: SessionAttributes,
  host: Pick<Host, "egress" | "clock">,
): Promise<Result<Member, LoginFailure>> {
  let first: LoginFailure | undefined;
  for (const server of servers) {
    const login = { server, database, account };
    const made = await logIn(signal === undefined ? login : { ...login, signal }, host);
    if (made.ok && (await isWanted(made.value, wanted, signal))) return made;
    if (made.ok) made.value.destroy();
    const failure = made.ok ? { code: "GATEWAY_OTHER_SERVER", sqlState: undefined } : made.error;
    // Another host of the cluster has the same users: the password would only be shown once more.
    if (isRefusal(failure)) return err(failure);
    // A server that has no place now has one soon: that is worth more to know than that another is away.
    if (first === undefined || (isFull(failure) && !isFull(first))) first = failure;
    if (signal?.aborted === true) break;
  }
  return err(first ?? { code: "GATEWAY_NO_HOST", sqlState: undefined });
}

/** True where a login is worth another try: too many connections, of the server or the role; starting up or recovering. */
export function isFull({ sqlState }: LoginFailure): boolean {
  return sqlState === "53300" || sqlState === "57P03";
}

/** True for an answer about who logs in. */
export function isRefusal({ sqlState, code }: LoginFailure): boolean {
  return sqlState?.startsWith("28") === true || code === "GATEWAY_UNPROVED";
}

const never = new AbortController().signal;

/** Servers before version 14 do not say it with the login, and poolers may not, so those are asked. */
async function isWanted(
  member: Member,
  wanted: SessionAttributes,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (wanted === "any") return true;
  const { statuses } = member;
  const standby =
    statuses.get("in_hot_standby") ??
    (await one(member, "SELECT CASE WHEN pg_is_in_recovery() THEN 'on' ELSE 'off' END", signal));
  if (wanted === "primary") return standby === "off";
  if (wanted === "standby" || wanted === "prefer-standby") return standby === "on";
  const readOnly =
    statuses.get("default_transaction_read_only") ??
    (await one(member, "SHOW transaction_read_only", signal));
  const writes = standby === "off" && readOnly === "off";
  return wanted === "read-write" ? writes : !writes;
}

async function one(
  member: Member,
  sql: string,
  signal: AbortSignal | undefined,
): Promise<string | null | undefined> {
  const answer = await ask(member, sql, signal ?? never);
  return answer.ok ? answer.value.rows[0]?.[0] : undefined;
}

/** What the reason of a failed login is, for operators. */
export function failureText({ code, sqlState }: LoginFailure): string {
  return sqlState === undefined ? code : `SQLSTATE ${sqlState}`;
}

/** True when the server greets: an account is not needed for that. */
export function isGreeting({ sqlState, code }: LoginFailure): boolean {
  return code === "GATEWAY_REFUSED" && sqlState !== undefined && sqlState.startsWith("28");
}
