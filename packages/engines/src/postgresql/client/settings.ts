/**
 * What of a session the server has to know: settings that decide what a statement does or answers, and the client's
 * own names. They are kept as changes of the session, and set on the connection that runs its next statement.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { quoteIdentifier, quoteText } from "../sql/quote.ts";
import { brokenError } from "../errors.ts";
import { ask } from "./ask.ts";
import type { Member } from "./member.ts";
import { encodingOf } from "./reading.ts";

/** What was read of settings that did not change since: they are another map when they do. */
const known = new WeakMap<ReadonlyMap<string, string>, Stands>();

interface Stands {
  readonly schema: string | undefined;
  readonly dialect: Session["dialect"];
  readonly named: boolean;
  readonly own: boolean;
  readonly wanted: ReadonlyMap<string, string>;
}

/** How much of a session its connection is told. */
export interface Bringing {
  /** Its client's own name, which tells nothing else there. */
  readonly named: boolean;
  /** The connection is the session's until its client leaves, and holds the limits that are the gateway's elsewhere. */
  readonly own: boolean;
}

/** The settings of a session by the server's names. Other wires' settings mean nothing here, but for the zone. */
export function settingsOf(
  session: Pick<Session, "schema" | "settings" | "dialect">,
  { named, own }: Bringing,
): ReadonlyMap<string, string> {
  const { schema, settings, dialect } = session;
  const before = known.get(settings);
  const same = before?.named === named && before.own === own;
  if (same && before.schema === schema && before.dialect === dialect) return before.wanted;
  const wanted = wantedOf(session, { named, own });
  known.set(settings, { schema, dialect, named, own, wanted });
  return wanted;
}

function wantedOf(
  { schema, settings, dialect }: Pick<Session, "schema" | "settings" | "dialect">,
  { named, own }: Bringing,
): ReadonlyMap<string, string> {
  const wanted = new Map<string, string>();
  const zone = settings.get("timezone");
  if (dialect === "postgres")
    for (const [name, value] of settings) if (isServers(name, own)) wanted.set(name, value);
  if (schema !== undefined && !wanted.has("search_path"))
    wanted.set("search_path", quoteIdentifier(schema));
  if (zone !== undefined) wanted.set("timezone", zoneName(zone));
  if (!named) wanted.delete("application_name");
  return wanted;
}

/** The gateway's own, or kept by it: the modes of a transaction, and how text is read. */
const kept =
  /^(?:gateway\..*|transaction_(?!timeout$)\w+|client_encoding|standard_conforming_strings|role|session_authorization|ssl_renegotiation_limit|server_\w+|is_superuser|integer_datetimes|in_hot_standby)$/;

/**
 * Limits that a connection shared by sessions is not told: the gateway holds the one for a statement, and at rest it is
 * not the client that is idle there. Those of a transaction are the server's everywhere.
 */
const sessionLimits: ReadonlySet<string> = new Set(["statement_timeout", "idle_session_timeout"]);

function isServers(name: string, own: boolean): boolean {
  if (!own && sessionLimits.has(name)) return false;
  return /^[a-z_]\w*(?:\.\w+)*$/i.test(name) && !kept.test(name);
}

/** An offset by ISO's sign, which is the opposite of the one that PostgreSQL gives a bare offset. */
function zoneName(zone: string): string {
  const [, sign, offset] = /^([+-])(\d{1,2}(?::\d{2}){0,2})$/.exec(zone) ?? [];
  if (sign === undefined || offset === undefined) return zone;
  return `<${zone}>${sign === "+" ? "-" : "+"}${offset}`;
}

/**
 * Brings the connection where the session stands, with the statement's limit. The error where it can not get there; no
 * promise where it stands there already.
 */
export function bring(
  member: Member,
  { session, maxExecutionMs }: Pick<Identified, "session" | "maxExecutionMs">,
  how: Bringing & { readonly signal: AbortSignal },
): Promise<GatewayError | undefined> | undefined {
  // Most connections stand where their next session does.
  if (isBrought(member, { session, maxExecutionMs }, how)) return undefined;
  return brings(member, { wanted: settingsOf(session, how), maxExecutionMs }, how.signal);
}

/** True where the connection stands there already. */
export function isBrought(
  member: Pick<Member, "limitMs" | "settings">,
  { session, maxExecutionMs }: Pick<Identified, "session" | "maxExecutionMs">,
  how: Bringing,
): boolean {
  return member.limitMs === maxExecutionMs && stands(member.settings, settingsOf(session, how));
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
    ...limitStatements(member, { wanted, maxExecutionMs }),
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

/** The statement's limit, behind a client's own: the shorter one holds. */
function limitStatements(member: Member, { wanted, maxExecutionMs }: Place): readonly string[] {
  const owns = wanted.has("statement_timeout");
  if (maxExecutionMs === undefined)
    return owns || member.limitMs === undefined ? [] : ["RESET statement_timeout"];
  const limit = Math.min(0x7fff_ffff, Math.max(1, Math.floor(maxExecutionMs)));
  if (!owns) return member.limitMs === maxExecutionMs ? [] : [`SET statement_timeout = ${limit}`];
  return [
    `SELECT set_config(name, '${limit}', false) FROM pg_catalog.pg_settings WHERE name = 'statement_timeout' AND setting::bigint NOT BETWEEN 1 AND ${limit}`,
  ];
}

/** A name with a dot is written in two parts. */
function nameOf(name: string): string {
  return name.split(".").map(quoteIdentifier).join(".");
}

/** Puts the connection to the session's encoding. No promise where it has it. */
export function encode(
  member: Member,
  session: Session,
  signal: AbortSignal,
): Promise<GatewayError | undefined> | undefined {
  const wanted = encodingOf(session);
  return member.encoding.name === wanted ? undefined : encodes(member, wanted, signal);
}

async function encodes(
  member: Member,
  wanted: string,
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  // A transaction that failed takes no settings; what it takes yet is its end.
  if (member.status === "E") return undefined;
  const done = await ask(member, `SET client_encoding = '${wanted}'`, signal);
  if (!done.ok) return done.error;
  if (member.encoding.name === wanted) return undefined;
  member.destroy();
  return brokenError(`the server did not report that its client_encoding is ${wanted}`);
}
