/**
 * From a start-up packet to an open session: version, names, settings, login.
 *
 * A start-up parameter is one of a list, a setting, or refused. None of them can name another identity than
 * the one that is verified.
 */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { allSpeakPostgres } from "@gateway/core/query/reached.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { StartMessage } from "@gateway/wire/postgres/message.ts";
import { accept } from "../session/clientSession.ts";
import { schemaFrom } from "../session/searchPath.ts";
import { settings } from "../session/settings.ts";
import { noTags, parseTags } from "../session/tags.ts";

/** The key of this frontend in config, sessions and records. */
export const frontendKind = "postgresWire";

type Startup = Extract<StartMessage, { kind: "startup" }>;

/** The newest minor version of protocol 3 that we speak. 3.1 was never released, so we treat it as 3.0. */
const minorMax = 2;
/** Settings one start-up packet may bring. The packet itself has 10,000 bytes at most. */
const settingsMax = 100;

/** What a sound start-up packet asks for. */
export interface StartupRequest {
  readonly user: string;
  readonly database: string;
  readonly settings: ReadonlyMap<string, string>;
  readonly minor: number;
  /** Options the client must be told we do not know; undefined when it asked for nothing unknown. */
  readonly unknownOptions: readonly string[] | undefined;
}

/** Reads a start-up packet; an error ends the connection. */
export function readStartup({
  major,
  minor,
  parameters,
}: Startup): Result<StartupRequest, GatewayError> {
  if (major !== 3) {
    const message = `unsupported frontend protocol ${major}.${minor}: server supports 3.0 to 3.${minorMax}`;
    return err(gatewayError("query.unsupported", { message }));
  }
  const user = parameters.get("user") ?? "";
  if (user === "") {
    const message = "no PostgreSQL user name specified in startup packet";
    return err(gatewayError("auth.required", { message }));
  }
  if (/^(true|on|yes|1|database)$/i.test(parameters.get("replication") ?? "")) {
    return err(gatewayError("query.unsupported", { message: "replication is not supported" }));
  }
  const collected = collectSettings(parameters);
  if (!collected.ok) return collected;
  const unknownOptions = [...parameters.keys()].filter((name) => name.startsWith("_pq_."));
  return ok({
    user,
    database: parameters.get("database") ?? user,
    settings: collected.value,
    minor: Math.min(minor, minorMax),
    unknownOptions: minor > minorMax || unknownOptions.length > 0 ? unknownOptions : undefined,
  });
}

/** Parameters that are not settings. */
const names: ReadonlySet<string> = new Set(["user", "database", "replication", "options"]);

function collectSettings(
  parameters: ReadonlyMap<string, string>,
): Result<ReadonlyMap<string, string>, GatewayError> {
  const options = readOptions(parameters.get("options") ?? "");
  if (options === undefined) {
    const message = 'invalid command-line arguments in the start-up parameter "options"';
    return err(gatewayError("query.invalid", { sqlState: "22023", message }));
  }
  // A parameter with its own name comes after `options` and wins.
  const given = [
    ...options,
    ...[...parameters].filter(([name]) => !names.has(name) && !name.startsWith("_pq_.")),
  ];
  if (given.length > settingsMax) {
    const message = "too many settings in the start-up packet";
    return err(gatewayError("query.invalid", { sqlState: "54000", message }));
  }
  const collected = new Map<string, string>();
  for (const [name, value] of given) {
    const key = name.toLowerCase();
    const setting = settings.get(key);
    if (setting !== undefined && setting.accept === undefined) continue;
    // Clients may make up names with a dot, as in PostgreSQL.
    if (setting === undefined && !name.includes(".")) return err(unknownName(name));
    // Who follows it is known once its client is (`openSession`).
    const accepted = accept(name, setting, value, key === "client_encoding");
    if (!accepted.ok) return accepted;
    collected.set(key, accepted.value);
  }
  return ok(collected);
}

function unknownName(name: string): GatewayError {
  const message = `unrecognized configuration parameter "${name.slice(0, 100)}"`;
  return gatewayError("query.unknownObject", { sqlState: "42704", message });
}

/** Reads `-c name=value`, `-cname=value` and `--name=value`; a backslash keeps a blank. Undefined for anything else. */
export function readOptions(text: string): readonly (readonly [string, string])[] | undefined {
  const settingsGiven: (readonly [string, string])[] = [];
  const words = splitWords(text);
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    let assignment: string | undefined;
    if (word === "-c") {
      index += 1;
      assignment = words[index];
    } else if (word.startsWith("--")) assignment = word.slice(2);
    else if (word.startsWith("-c")) assignment = word.slice(2);
    const equals = assignment?.indexOf("=") ?? -1;
    if (assignment === undefined || equals < 1) return undefined;
    // Dashes in the long form stand for underscores, as on PostgreSQL's command line.
    const name = assignment.slice(0, equals).replaceAll("-", "_");
    settingsGiven.push([name, assignment.slice(equals + 1)]);
  }
  return settingsGiven;
}

function splitWords(text: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === "\\" && at + 1 < text.length) {
      at += 1;
      word = (word ?? "") + text.charAt(at);
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + char;
    }
  }
  return word === undefined ? words : [...words, word];
}

const noHeaders: ReadonlyMap<string, string> = new Map();

/**
 * The session of a client that logged in. Its database selects a catalog of an engine. Any other name is refused as
 * soon as all catalogs are known, unless it is one that clients give for want of another.
 */
export function openSession(
  request: StartupRequest,
  { identity, credential }: Login,
  clientAddress: string,
  door: Door,
): Result<Session, GatewayError> {
  const session: Session = {
    frontend: frontendKind,
    identity,
    credential,
    clientAddress,
    dialect: "postgres",
    catalog: undefined,
    schema: schemaFrom(request.settings.get("search_path") ?? ""),
    settings: request.settings,
    tags: parseTags(request.settings.get("gateway.tags") ?? "") ?? noTags,
    headers: noHeaders,
    pin: undefined,
  };
  const engines = door.engines(session);
  const beyond = allSpeakPostgres(engines) ? undefined : unfollowed(request.settings);
  if (beyond !== undefined) return err(beyond);
  const { database, user } = request;
  const catalog = ownName(database, door.catalogs(session));
  if (catalog !== undefined) return ok({ ...session, catalog });
  if (database === user || database === everyServers) return ok(session);
  const known = engines.length > 0 && engines.every(({ catalogs }) => catalogs.length > 0);
  return known ? err(unknownDatabase(database)) : ok(session);
}

/** An encoding that only a server of PostgreSQL follows. */
function unfollowed(asked: ReadonlyMap<string, string>): GatewayError | undefined {
  const encoding = asked.get("client_encoding");
  if (encoding === undefined) return undefined;
  const accepted = accept("client_encoding", settings.get("client_encoding"), encoding);
  return accepted.ok ? undefined : accepted.error;
}

/** The name as its engine spells it: some have theirs in upper case, which nobody writes. */
function ownName(name: string, known: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  return known.includes(name) ? name : known.find((other) => other.toLowerCase() === lower);
}

/** The database that every PostgreSQL has, and tools connect to when they are told none. */
const everyServers = "postgres";

function unknownDatabase(name: string): GatewayError {
  const message = `database "${name.slice(0, 100)}" does not exist`;
  return gatewayError("query.unknownObject", { sqlState: "3D000", message });
}
