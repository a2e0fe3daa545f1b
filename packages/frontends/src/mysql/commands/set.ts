/**
 * `SET`: every form that drivers send. Changes are made one after the other on a value; the first that
 * can not be honoured refuses the whole statement, and nothing of it remains.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type {
  SettingChange,
  SettingScope,
  SettingValue,
} from "@gateway/core/sql/session/statement.ts";
import { utc, zoneOf } from "@gateway/core/type/zone.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { charsetNamed, comparingBy, utf8mb4 } from "../session/charset.ts";
import {
  readsBackslashes,
  tracking,
  type ClientSession,
  type Setting,
} from "../session/clientSession.ts";
import { ownErrors } from "../errors.ts";
import { parseTags } from "../session/tags.ts";
import type { LocalAnswer } from "./answer.ts";
import { askingFor, isKept, isOfOneStatement } from "./engineVariables.ts";
import { askedVariable, readVariable } from "./select.ts";
import { withCharacteristic, withModes } from "./characteristics.ts";
import { assignedValue, byDefault, switchValue, type Assigned } from "./settingValue.ts";
import { isSwitch, variableDefault, variableKind, type VariableContext } from "./variables.ts";

type Changed = Result<ClientSession, ErrorReply>;

/**
 * Longest value, in characters: a variable lives as long as the connection. A longer one is not even looked at, because a
 * text may have 16 MiB, and a number of as many digits takes seconds to read.
 */
const valueMax = 64 * 1024;
const userVariablesMax = 1000;

/** The answer to a SET with these changes. */
export function answerSet(
  changes: readonly SettingChange[],
  context: VariableContext,
): LocalAnswer {
  const refused = tooLong(changes);
  if (refused !== undefined) return { kind: "error", reply: refused };
  const asked = askedBy(changes, context);
  if (asked.length > 0) return askingFor(asked, (told) => answerSet(changes, { ...context, told }));
  let { client } = context;
  for (const change of changes) {
    const changed = apply(change, { ...context, client });
    if (!changed.ok) return { kind: "error", reply: changed.error };
    client = changed.value;
  }
  // Turning autocommit on ends the transaction that its absence began.
  const commit = client.autocommit && !context.client.autocommit;
  const checks = context.ownWords() ? checksOf(changes, context.client, client) : [];
  return { kind: "changed", client, commit, checks };
}

/** The refusal of a value that no variable here has. */
function tooLong(changes: readonly SettingChange[]): ErrorReply | undefined {
  for (const change of changes) {
    if (change.kind === "names" && isTooLong(change.charset))
      return ownErrors.unknownCharset(shownOfLong);
    if (change.kind === "names" && change.collation !== undefined && isTooLong(change.collation))
      return ownErrors.unknownCollation(shownOfLong);
    if (!valuesOf(change).some(isTooLong)) continue;
    const name = change.kind === "userVariable" ? `@${change.name}` : nameOf(change);
    return ownErrors.wrongValue(name, shownOfLong);
  }
  return undefined;
}

const shownOfLong = "…";

function isTooLong(value: SettingValue): boolean {
  return value.kind !== "default" && value.text.length > valueMax;
}

function nameOf(change: SettingChange): string {
  return change.kind === "variable" ? change.name : "";
}

/** Variables of the engine whose values the changes need. */
function askedBy(changes: readonly SettingChange[], context: VariableContext): readonly string[] {
  return changes
    .flatMap((change) => valuesOf(change))
    .flatMap((value) => (value.kind === "raw" ? (value.text.match(/@@[\w.]+/g) ?? []) : []))
    .flatMap((text) => askedVariable(text, context)?.asked ?? []);
}

function valuesOf(change: SettingChange): readonly SettingValue[] {
  if (change.kind === "variable") return change.values;
  return change.kind === "userVariable" ? [change.value] : [];
}

/** What the engine has to take before the session is another one: it knows its own variables and their values. */
function checksOf(
  changes: readonly SettingChange[],
  { session: { settings: before } }: ClientSession,
  { session: { settings: after } }: ClientSession,
): readonly string[] {
  const set = [...after].filter(([name, value]) => before.get(name) !== value);
  const back = changes.flatMap((change) =>
    change.kind === "variable" &&
    change.values[0]?.kind === "default" &&
    !isKept(change.name) &&
    change.name !== "collation_connection"
      ? [`SELECT @@${change.name}`]
      : [],
  );
  return [
    ...back,
    ...set.flatMap(([name, value]) => {
      if (name === "names") return named(value);
      const literal = /^-?\d+$/.test(value) ? value : `'${value.replaceAll("'", "''")}'`;
      if (name !== zoneSetting) return [`SET SESSION ${name} = ${literal}`];
      // Servers know it by this name without any tables of zones.
      return [`SET SESSION time_zone = ${value === "UTC" ? "'+00:00'" : literal}`];
    }),
  ];
}

/** A set that is known here may have collations that the engine does not know. */
function named(names: string): readonly string[] {
  const [, collation] = names.split(" COLLATE ");
  return collation === undefined ? [] : [`SET SESSION collation_connection = '${collation}'`];
}

function apply(change: SettingChange, context: VariableContext): Changed {
  const { client } = context;
  switch (change.kind) {
    case "names": {
      const charset = assignedValue(change.charset, context);
      if (charset === undefined) return err(ownErrors.notSupported("this expression in SET"));
      const collation = change.collation && assignedValue(change.collation, context);
      const name = typeof collation === "string" ? collation : undefined;
      const read =
        charset === byDefault
          ? ok(comparing({ ...client, charset: utf8mb4 }, undefined))
          : withCharset(client, String(charset), name);
      return read.ok ? ok(answeredIn(read.value, read.value.charset.name)) : read;
    }
    case "variable": {
      const value = change.values[0] && assignedValue(change.values[0], context);
      if (isGlobal(change.scope)) return err(ownErrors.globalDenied());
      if (value === undefined) return err(ownErrors.notSupported("this expression in SET"));
      const { name, scope } = change;
      return (
        withCharacteristic(context, { name, scope, value }) ?? withVariable(context, name, value)
      );
    }
    case "userVariable": {
      const value = assignedValue(change.value, context);
      if (value === undefined || value === byDefault) {
        return err(ownErrors.notSupported("this expression in SET"));
      }
      return withUserVariable(client, `@${change.name}`, value);
    }
    case "timeZone":
      return err(ownErrors.syntax("TIME ZONE"));
    case "transaction":
      if (change.scope === "global") return err(ownErrors.globalDenied());
      return withModes(context, change.modes, change.scope);
    case "role":
    case "authorization":
      return err(ownErrors.notSupported("changing roles"));
  }
}

function isGlobal(scope: SettingScope): boolean {
  return scope === "global" || scope === "persist" || scope === "persistOnly";
}

/** `collation` undefined: the set's own. */
function withCharset(client: ClientSession, name: string, collation?: string): Changed {
  const charset = charsetNamed(name);
  if (charset === undefined) return err(ownErrors.unknownCharset(name));
  if (collation !== undefined && !/^\w{1,64}$/.test(collation)) {
    return err(ownErrors.unknownCollation(collation));
  }
  if (collation !== undefined && !isOf(collation, charset.name)) {
    return err(ownErrors.otherCollation(collation, charset.name));
  }
  const own = charset === utf8mb4 ? undefined : charset.collation;
  const compared = comparing({ ...client, charset }, collation ?? own);
  const changed = tracked(compared, "character_set_client", charset.name);
  return ok(tracked(changed, "character_set_connection", charset.name));
}

/** MySQL's `utf8` is `utf8mb3`. */
function isOf(collation: string, charset: string): boolean {
  const lower = collation.toLowerCase();
  return lower === charset || lower.startsWith(`${charset}_`) || lower.startsWith("utf8_");
}

/** Compares texts by this collation from now on. */
function comparing(client: ClientSession, collation: string | undefined): ClientSession {
  const settings = new Map(client.session.settings);
  settings.delete("collation_connection");
  for (const [name, value] of comparingBy(collation?.toLowerCase())) settings.set(name, value);
  return { ...client, session: { ...client.session, settings } };
}

/** The character set and the collation of new databases: whichever is set says what the other is. */
const ofServersSet: ReadonlyMap<string, string> = new Map([
  ["character_set_server", "collation_server"],
  ["collation_server", "character_set_server"],
]);

/** A variable that is set on the engine's connection. */
function engineSetting(client: ClientSession, name: string, value: string): ClientSession {
  const settings = new Map(client.session.settings);
  const implied = ofServersSet.get(name);
  if (implied !== undefined) settings.delete(implied);
  settings.set(name, value);
  return { ...client, session: { ...client.session, settings } };
}

/** A variable of the engine. It says itself what it does not know. */
function withEngines({ client, relays }: VariableContext, name: string, value: Assigned): Changed {
  if (isOfOneStatement(name)) return err(ownErrors.notSupported(`the variable ${name}`));
  if (value === byDefault) {
    const settings = new Map(client.session.settings);
    settings.delete(name);
    return ok({ ...client, session: { ...client.session, settings } });
  }
  if (value === null) return err(ownErrors.wrongValue(name, "NULL"));
  if (name === "sql_mode") {
    const checked = withSqlMode(client, value, relays());
    if (!checked.ok) return checked;
    return ok(engineSetting(client, name, value === 0n ? "" : String(value)));
  }
  const text = String(value);
  return text.length > valueMax
    ? err(ownErrors.wrongValue(name, "…"))
    : ok(engineSetting(client, name, text));
}

const variableName = /^[\w.]+$/;

function withVariable(context: VariableContext, name: string, value: Assigned): Changed {
  const { client } = context;
  // A server has none of such a name, and an engine is asked about no other.
  if (!variableName.test(name)) return err(ownErrors.unknownVariable(name));
  if (context.ownWords() && !isKept(name)) return withEngines(context, name, value);
  switch (variableKind(name)) {
    case undefined:
      return err(ownErrors.unknownVariable(name));
    case "fixed": {
      // Dumps and drivers set the value that holds anyway; only a change is refused.
      const same = value !== byDefault && value === readVariable(`@@${name}`, context);
      return same ? ok(client) : err(ownErrors.readOnlyVariable(name));
    }
    case "computed":
      return withComputed(client, name, value);
    case "settable":
      return withSettable(client, name, value);
  }
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
  if (name === "sql_mode") return withSqlMode(client, stands, false);
  if (name === "sql_select_limit") return withRowLimit(client, stands);
  if (typeof variableDefault(name) === "bigint" && typeof stands !== "bigint") {
    return err(ownErrors.wrongType(name));
  }
  return String(stands).length > valueMax
    ? err(ownErrors.wrongValue(name, "…"))
    : ok(stored(client, name, stands));
}

/** Modes that change how a statement is read. Statements are read here as without them. */
const lexicalModes = /ANSI|DB2|MAXDB|MSSQL|ORACLE|POSTGRESQL/;

/** `relayed`: a server of the protocol's own reads the texts, and the session can ask it for plain backslashes. */
function withSqlMode(client: ClientSession, value: Setting, relayed: boolean): Changed {
  const modes = value === 0n || value === null ? "" : String(value).toUpperCase();
  const refused = lexicalModes.test(modes) || (!relayed && readsBackslashes(modes));
  if (refused) return err(ownErrors.notSupported(`the sql_mode '${modes}'`));
  if (!/^(?:[A-Z_]+(?:,[A-Z_]+)*)?$/.test(modes)) {
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
      return withZone(client, value === byDefault ? "SYSTEM" : String(value));
    case "character_set_results":
      return withResultsCharset(client, value);
    case "character_set_client":
    case "character_set_connection":
      return value === byDefault
        ? ok(comparing({ ...client, charset: utf8mb4 }, undefined))
        : withCharset(client, String(value));
    case "collation_connection":
    case "timestamp":
      return ok(client);
    default:
      return err(ownErrors.readOnlyVariable(name));
  }
}

/** NULL asks for no conversion, which here is utf8mb4. */
function withResultsCharset(client: ClientSession, value: Assigned): Changed {
  if (value === null || value === byDefault) {
    return ok(stored(client, "character_set_results", value === null ? null : utf8mb4.name));
  }
  const charset = charsetNamed(String(value));
  if (charset === undefined) return err(ownErrors.unknownCharset(String(value)));
  return ok(answeredIn(client, charset.name));
}

function answeredIn(client: ClientSession, name: string): ClientSession {
  return tracked(stored(client, "character_set_results", name), "character_set_results", name);
}

function withZone(client: ClientSession, name: string): Changed {
  const isSystem = name.toUpperCase() === "SYSTEM";
  const zone = isSystem ? utc : zoneOf(name);
  if (zone === undefined) return err(ownErrors.unknownZone(name));
  const settings = new Map(client.session.settings);
  // The server's own zone is what a session has that asked for none.
  if (isSystem) settings.delete(zoneSetting);
  else settings.set(zoneSetting, zone.name);
  const session = { ...client.session, settings };
  return ok(tracked(stored({ ...client, zone, session }, "time_zone", name), "time_zone", name));
}

/** The setting's name in the gateway's own session, on every wire. */
const zoneSetting = "timezone";

function withUserVariable(client: ClientSession, name: string, value: Setting): Changed {
  const isNew = !client.settings.has(name);
  if (String(value).length > valueMax || (isNew && client.settings.size >= userVariablesMax)) {
    return err(ownErrors.wrongValue(name, "…"));
  }
  if (name !== "@gateway_tags") return ok(stored(client, name, value));
  const session = { ...client.session, tags: parseTags(String(value ?? "")) };
  return ok(stored({ ...client, session }, name, value));
}

function stored(client: ClientSession, name: string, value: Setting): ClientSession {
  return { ...client, settings: new Map(client.settings).set(name, value) };
}

function tracked(client: ClientSession, name: string, value: string): ClientSession {
  return tracking(client, { kind: "variable", name, value });
}
