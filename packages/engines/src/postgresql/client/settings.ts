/**
 * What of a session the server has to know: settings that decide what a statement does or answers, and the client's
 * own names. They are kept as changes of the session, and set on the connection that runs its next statement.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { quoteIdentifier, quoteText } from "../sql/quote.ts";
import { ask } from "./ask.ts";
import type { Member } from "./member.ts";

/** What was read of settings that did not change since: they are another map when they do. */
const known = new WeakMap<ReadonlyMap<string, string>, Stands>();

interface Stands {
  readonly schema: string | undefined;
  readonly dialect: Session["dialect"];
  readonly named: boolean;
  readonly wanted: ReadonlyMap<string, string>;
}

/** The settings of a session by the server's names. Other wires' settings mean nothing here, but for the zone. */
export function settingsOf(
  session: Pick<Session, "schema" | "settings" | "dialect">,
  named: boolean,
): ReadonlyMap<string, string> {
  const { schema, settings, dialect } = session;
  const before = known.get(settings);
  if (before?.schema === schema && before?.dialect === dialect && before.named === named)
    return before.wanted;
  const wanted = wantedOf(session, named);
  known.set(settings, { schema, dialect, named, wanted });
  return wanted;
}

function wantedOf(
  { schema, settings, dialect }: Pick<Session, "schema" | "settings" | "dialect">,
  named: boolean,
): ReadonlyMap<string, string> {
  const wanted = new Map<string, string>();
  const zone = settings.get("timezone");
  if (dialect === "postgres")
    for (const [name, value] of settings) if (isBrought(name)) wanted.set(name, value);
  if (schema !== undefined && !wanted.has("search_path"))
    wanted.set("search_path", quoteIdentifier(schema));
  if (zone !== undefined) wanted.set("timezone", zoneName(zone));
  if (!named) wanted.delete("application_name");
  return wanted;
}

/** The gateway's own, or kept by it: limits of time, the modes of a transaction, and how text is read. */
const kept =
  /^(?:gateway\..*|(?:statement|idle_in_transaction_session|idle_session|transaction)_timeout|transaction_\w+|client_encoding|standard_conforming_strings|role|session_authorization|ssl_renegotiation_limit|server_\w+|is_superuser|integer_datetimes|in_hot_standby)$/;

function isBrought(name: string): boolean {
  return /^[a-z_]\w*(?:\.\w+)*$/i.test(name) && !kept.test(name);
}

/** An offset by ISO's sign, which is the opposite of the one that PostgreSQL gives a bare offset. */
function zoneName(zone: string): string {
  const [, sign, offset] = /^([+-])(\d{1,2}(?::\d{2}){0,2})$/.exec(zone) ?? [];
  if (sign === undefined || offset === undefined) return zone;
  return `<${zone}>${sign === "+" ? "-" : "+"}${offset}`;
}

/**
 * Brings the connection where the session stands, with the statement's limit. `named`: under its client's own name, which
 * tells nothing else there. The error where it can not get there; no promise where it stands there already.
 */
export function bring(
  member: Member,
  { session, maxExecutionMs }: Pick<Identified, "session" | "maxExecutionMs">,
  { named, signal }: { readonly named: boolean; readonly signal: AbortSignal },
): Promise<GatewayError | undefined> | undefined {
  const wanted = settingsOf(session, named);
  // Most connections stand where their next session does.
  if (member.limitMs === maxExecutionMs && stands(member.settings, wanted)) return undefined;
  return brings(member, { wanted, maxExecutionMs }, signal);
}

async function brings(
  member: Member,
  { wanted, maxExecutionMs }: Place,
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  const { settings } = member;
  const reset = [...settings.keys()].filter((name) => !wanted.has(name));
  const set = [...wanted].filter(
    ([name, value]) => !settings.has(name) || settings.get(name) !== value,
  );
  const statements = [
    ...reset.map((name) => `RESET ${nameOf(name)}`),
    ...set.map(
      ([name, value]) => `SELECT set_config(${quoteText(name)}, ${quoteText(value)}, false)`,
    ),
    ...(member.limitMs === maxExecutionMs ? [] : [limitStatement(maxExecutionMs)]),
  ];
  if (statements.length === 0) return undefined;
  const done = await ask(member, statements.join("; "), signal);
  if (!done.ok) {
    member.forgetSettings();
    return done.error;
  }
  for (const name of reset) settings.delete(name);
  for (const [name, value] of set) settings.set(name, value);
  member.limitMs = maxExecutionMs;
  return undefined;
}

interface Place {
  readonly wanted: ReadonlyMap<string, string>;
  readonly maxExecutionMs: number | undefined;
}

function stands(
  settings: ReadonlyMap<string, string | undefined>,
  wanted: ReadonlyMap<string, string>,
): boolean {
  if (settings.size !== wanted.size) return false;
  for (const [name, value] of wanted) if (settings.get(name) !== value) return false;
  return true;
}

function limitStatement(limitMs: number | undefined): string {
  if (limitMs === undefined) return "RESET statement_timeout";
  return `SET statement_timeout = ${Math.min(0x7fff_ffff, Math.max(1, Math.floor(limitMs)))}`;
}

/** A name with a dot is written in two parts. */
function nameOf(name: string): string {
  return name.split(".").map(quoteIdentifier).join(".");
}
