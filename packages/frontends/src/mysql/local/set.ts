/**
 * `SET`: every form that drivers send. Assignments are made one after the other on a value; the first
 * that can not be honoured refuses the whole statement, and nothing of it remains.
 */
import { zoneOf, utc } from "@gateway/core/type/zone.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { charsetNamed, utf8mb4 } from "../charset.ts";
import type { ClientSession, Setting } from "../clientSession.ts";
import { ownErrors } from "../errors.ts";
import { parseTags } from "../tags.ts";
import type { LocalAnswer } from "./answer.ts";
import { readVariable } from "./select.ts";
import { TokenWalk, type Token } from "./tokens.ts";
import {
  defaultIsolation,
  isSwitch,
  variableDefault,
  variableKind,
  type VariableContext,
} from "./variables.ts";

type Changed = Result<ClientSession, ErrorReply>;

/** DEFAULT as a value. */
const byDefault = Symbol("DEFAULT");
type Assigned = Setting | typeof byDefault;

/** Longest user variable, in characters: they live as long as the connection. */
const userValueMax = 64 * 1024;
const userVariablesMax = 1000;

/** The answer to a statement whose first word is SET. */
export function answerSet(tokens: readonly Token[], context: VariableContext): LocalAnswer {
  const walk = new TokenWalk(tokens);
  walk.takeWords("SET");
  const changed = takeAll(walk, context);
  if (!changed.ok) return { kind: "error", reply: changed.error };
  const before = context.client;
  // Turning autocommit on ends the transaction that its absence began.
  const commit = changed.value.autocommit && !before.autocommit;
  return { kind: "changed", client: changed.value, commit };
}

function takeAll(walk: TokenWalk, context: VariableContext): Changed {
  let { client } = context;
  do {
    const changed = takeOne(walk, { ...context, client });
    if (!changed.ok) return changed;
    client = changed.value;
  } while (walk.takeSign(","));
  return walk.done ? ok(client) : err(ownErrors.syntax(walk.next.text));
}

function takeOne(walk: TokenWalk, context: VariableContext): Changed {
  if (walk.takeWords("NAMES")) return takeNames(walk, context.client);
  if (walk.takeWords("CHARACTER", "SET") || walk.takeWords("CHARSET")) {
    return takeNames(walk, context.client);
  }
  for (const word of ["PASSWORD", "ROLE", "DEFAULT", "RESOURCE"]) {
    if (walk.takeWords(word)) return err(ownErrors.notSupported(`SET ${word}`));
  }
  const scope = walk.takeOneOf("SESSION", "LOCAL", "GLOBAL", "PERSIST", "PERSIST_ONLY");
  if (scope !== undefined && isGlobal(scope)) return err(ownErrors.globalDenied());
  if (walk.takeWords("TRANSACTION")) return takeTransaction(walk, context.client, scope);

  const { kind, text } = walk.next;
  if (kind === "variable" && scope === undefined) {
    walk.at += 1;
    return text.startsWith("@@")
      ? takeSystem(walk, text.slice(2), context)
      : takeUser(walk, text.toLowerCase(), context);
  }
  const name = walk.takeName();
  return name === undefined
    ? err(ownErrors.syntax(text))
    : takeSystem(walk, name, context);
}

function isGlobal(scope: string): boolean {
  return scope !== "SESSION" && scope !== "LOCAL";
}

function takeNames(walk: TokenWalk, client: ClientSession): Changed {
  if (walk.takeWords("DEFAULT")) return ok({ ...client, charset: utf8mb4 });
  const name = walk.takeString() ?? walk.takeName();
  if (name === undefined) return err(ownErrors.syntax(walk.next.text));
  if (walk.takeWords("COLLATE") && (walk.takeString() ?? walk.takeName()) === undefined) {
    return err(ownErrors.syntax(walk.next.text));
  }
  return withCharset(client, name);
}

function withCharset(client: ClientSession, name: string): Changed {
  const charset = charsetNamed(name);
  if (charset === undefined) return err(ownErrors.unknownCharset(name));
  const changed = tracked({ ...client, charset }, "character_set_client", charset.name);
  return ok(tracked(changed, "character_set_connection", charset.name));
}

/** `ISOLATION LEVEL x`, `READ ONLY` and `READ WRITE`, in any order. Without a scope MySQL means the next transaction only. */
function takeTransaction(
  walk: TokenWalk,
  before: ClientSession,
  scope: string | undefined,
): Changed {
  let client = before;
  do {
    if (walk.takeWords("READ", "ONLY")) {
      client = { ...client, readOnly: true };
    } else if (walk.takeWords("READ", "WRITE")) {
      client = { ...client, readOnly: false };
    } else if (walk.takeWords("ISOLATION", "LEVEL")) {
      const changed = takeIsolation(walk, client);
      if (!changed.ok) return changed;
      client = changed.value;
    } else {
      return err(ownErrors.syntax(walk.next.text));
    }
  } while (walk.takeSign(","));
  if (scope === undefined && client.readOnly !== before.readOnly) {
    return err(ownErrors.notSupported("SET TRANSACTION READ ONLY without SESSION"));
  }
  return ok(client);
}

function takeIsolation(walk: TokenWalk, client: ClientSession): Changed {
  const level = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"].find(
    (words) => walk.takeWords(...words.split(" ")),
  );
  if (level === undefined) return err(ownErrors.syntax(walk.next.text));
  return withIsolation(client, level.replace(" ", "-"));
}

function withIsolation(client: ClientSession, level: string): Changed {
  const upper = level.toUpperCase();
  if (upper === "SERIALIZABLE") return err(ownErrors.notSupported("the isolation SERIALIZABLE"));
  if (!/^(?:READ-UNCOMMITTED|READ-COMMITTED|REPEATABLE-READ)$/.test(upper)) {
    return err(ownErrors.wrongValue("transaction_isolation", level));
  }
  return ok(tracked(stored(client, "transaction_isolation", upper), "transaction_isolation", upper));
}

function takeSystem(walk: TokenWalk, written: string, context: VariableContext): Changed {
  const [, scope = "", name = ""] =
    /^(?:(session|local|global|persist|persist_only)\.)?(.+)$/i.exec(written.toLowerCase()) ?? [];
  if (scope !== "" && isGlobal(scope.toUpperCase())) return err(ownErrors.globalDenied());
  const kind = variableKind(name);
  if (kind === undefined) return err(ownErrors.unknownVariable(name));
  const value = takeAssigned(walk, context);
  if (value === undefined) return err(ownErrors.syntax(walk.next.text));
  if (kind === "fixed") {
    // Dumps and drivers set what is so already; only a change is refused.
    const same = value !== byDefault && value === readVariable(`@@${name}`, context);
    return same ? ok(context.client) : err(ownErrors.readOnlyVariable(name));
  }
  return kind === "computed"
    ? withComputed(context.client, name, value)
    : withSettable(context.client, name, value);
}

function withSettable(client: ClientSession, name: string, value: Assigned): Changed {
  if (value === byDefault) {
    const settings = new Map(client.settings);
    settings.delete(name);
    const rowLimit = name === "sql_select_limit" ? undefined : client.rowLimit;
    return ok({ ...client, settings, rowLimit });
  }
  const stands = isSwitch(name) ? switchValue(value) : value;
  if (stands === undefined) return err(ownErrors.wrongValue(name, String(value)));
  if (name === "sql_mode") return withSqlMode(client, stands);
  if (name === "sql_select_limit") return withRowLimit(client, stands);
  if (typeof variableDefault(name) === "bigint" && typeof stands !== "bigint") {
    return err(ownErrors.wrongType(name));
  }
  return ok(stored(client, name, stands));
}

/** Modes under which statements are cut into tokens in another way than they are here. */
const lexicalModes = /ANSI|NO_BACKSLASH_ESCAPES|DB2|MAXDB|MSSQL|ORACLE|POSTGRESQL/;

function withSqlMode(client: ClientSession, value: Setting): Changed {
  const modes = value === 0n || value === null ? "" : String(value).toUpperCase();
  if (lexicalModes.test(modes)) return err(ownErrors.notSupported(`the sql_mode '${modes}'`));
  if (typeof value === "bigint" && value !== 0n) {
    return err(ownErrors.wrongValue("sql_mode", modes));
  }
  return ok(stored(client, "sql_mode", modes));
}

function withRowLimit(client: ClientSession, value: Setting): Changed {
  if (typeof value !== "bigint" || value < 0n) return err(ownErrors.wrongType("sql_select_limit"));
  const rowLimit = value > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(value);
  return ok({ ...stored(client, "sql_select_limit", value), rowLimit });
}

function withComputed(client: ClientSession, name: string, value: Assigned): Changed {
  switch (name) {
    case "autocommit": {
      const on = value === byDefault ? 1n : switchValue(value);
      if (on === undefined) return err(ownErrors.wrongValue(name, String(value)));
      return ok(tracked({ ...client, autocommit: on === 1n }, name, on === 1n ? "ON" : "OFF"));
    }
    case "time_zone":
      return withZone(client, value === byDefault ? "SYSTEM" : value);
    case "transaction_isolation":
    case "tx_isolation":
      return withIsolation(client, value === byDefault ? defaultIsolation : String(value));
    case "transaction_read_only":
    case "tx_read_only": {
      const on = value === byDefault ? 0n : switchValue(value);
      if (on === undefined) return err(ownErrors.wrongValue(name, String(value)));
      return ok({ ...client, readOnly: on === 1n });
    }
    case "character_set_results":
      return withResultsCharset(client, value);
    case "character_set_client":
    case "character_set_connection":
      return value === byDefault ? ok({ ...client, charset: utf8mb4 }) : withCharset(client, String(value));
    case "collation_connection":
    case "timestamp":
      return ok(client);
    default:
      return err(ownErrors.readOnlyVariable(name));
  }
}

/** Results are utf8mb4 whatever is asked for; NULL asks for exactly that: no conversion. */
function withResultsCharset(client: ClientSession, value: Assigned): Changed {
  if (value === null || value === byDefault) {
    return ok(stored(client, "character_set_results", value === null ? null : "utf8mb4"));
  }
  const charset = charsetNamed(String(value));
  if (charset === undefined) return err(ownErrors.unknownCharset(String(value)));
  return ok(stored(client, "character_set_results", charset.name));
}

function withZone(client: ClientSession, value: Setting): Changed {
  const name = String(value);
  const zone = name.toUpperCase() === "SYSTEM" ? utc : zoneOf(name);
  if (zone === undefined) return err(ownErrors.unknownZone(name));
  const settings = new Map(client.session.settings).set("time_zone", zone.name);
  const session = { ...client.session, settings };
  return ok(tracked(stored({ ...client, zone, session }, "time_zone", name), "time_zone", name));
}

function takeUser(walk: TokenWalk, name: string, context: VariableContext): Changed {
  const value = takeAssigned(walk, context);
  if (value === undefined || value === byDefault) {
    return err(ownErrors.notSupported("this expression in SET"));
  }
  const { client } = context;
  const isNew = !client.settings.has(name);
  if (String(value).length > userValueMax || (isNew && client.settings.size >= userVariablesMax)) {
    return err(ownErrors.wrongValue(name, "…"));
  }
  if (name !== "@gateway_tags") return ok(stored(client, name, value));
  const session = { ...client.session, tags: parseTags(String(value ?? "")) };
  return ok(stored({ ...client, session }, name, value));
}

function takeAssigned(walk: TokenWalk, context: VariableContext): Assigned | undefined {
  if (!walk.takeSign("=", ":=")) return undefined;
  if (walk.takeWords("DEFAULT")) return byDefault;
  return takeExpression(walk, context);
}

/** Literals, variables, bare words (`ON`, `utf8mb4`), and CONCAT of them. */
function takeExpression(walk: TokenWalk, context: VariableContext): Setting | undefined {
  const { kind, text } = walk.next;
  if (kind === "variable") {
    walk.at += 1;
    return readVariable(text, context);
  }
  if (walk.takeWords("CONCAT")) return takeConcat(walk, context);
  const literal = walk.takeLiteral();
  return literal === undefined ? walk.takeName() : literal;
}

function takeConcat(walk: TokenWalk, context: VariableContext): Setting | undefined {
  if (!walk.takeSign("(")) return undefined;
  let joined: string | null = "";
  do {
    const part = takeExpression(walk, context);
    if (part === undefined) return undefined;
    joined = joined === null || part === null ? null : joined + String(part);
  } while (walk.takeSign(","));
  return walk.takeSign(")") ? joined : undefined;
}

function switchValue(value: Setting): 0n | 1n | undefined {
  switch (String(value).toUpperCase()) {
    case "1":
    case "ON":
    case "TRUE":
    case "YES":
      return 1n;
    case "0":
    case "OFF":
    case "FALSE":
    case "NO":
      return 0n;
    default:
      return undefined;
  }
}

function stored(client: ClientSession, name: string, value: Setting): ClientSession {
  return { ...client, settings: new Map(client.settings).set(name, value) };
}

function tracked(client: ClientSession, name: string, value: string): ClientSession {
  return { ...client, tracked: [...client.tracked, { kind: "variable", name, value }] };
}
