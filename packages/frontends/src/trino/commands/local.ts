/**
 * Statements about the session, which the frontend answers itself for engines that can not: `USE`,
 * `SET SESSION`, `SET TIME ZONE`, `SET PATH`, `SET ROLE`, prepared statements, and the `SHOW` family.
 *
 * A Trino session lives in the client's headers, so each of them answers with headers or turns into
 * another statement. A text that only begins like one of them goes to the engine as it is, and so does
 * what a Trino answers better. Whose authorization, roles and transactions there are is said here only.
 */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { SessionChange } from "@gateway/core/query/event.ts";
import { responseHeader } from "@gateway/wire/trino/headers.ts";
import { asItIs, changed, failure, refused, type Handling } from "../read/handling.ts";
import { literalText, readLiteral } from "../read/literal.ts";
import { show, showColumns } from "../catalog/listing.ts";
import { deallocate, describePrepared, executedText, execution, prepare } from "./prepared.ts";
import { setRole } from "./roles.ts";
import { transactionRefusal } from "./transactionRefusal.ts";
import {
  changeHeaders,
  headerText,
  sessionZone,
  tagsProperty,
  timeZoneProperty,
  timeZoneSetting,
  unknownZone,
  type TrinoSession,
} from "../session/session.ts";
import { mayNameSystem } from "../catalog/systemRewrite.ts";
import { TokenReader } from "../read/tokens.ts";

/** What is known of the engines behind a statement. */
export interface Behind extends Pick<Door, "catalogs" | "describe"> {
  /** All of them speak Trino's own SQL. */
  readonly speaksTrino?: boolean;
}

/** Words of statements that read differently for different engines. */
const dependsOnEngine: ReadonlySet<string> = new Set(
  "USE SET RESET SHOW DESC DESCRIBE PREPARE EXECUTE DEALLOCATE".split(" "),
);

/**
 * The text by which a statement finds its engines, when it has to know them before it is handled: the
 * statement itself, or the one that it executes. Undefined for one that is the same for every engine.
 */
export function asksForEngine(sql: string, session: TrinoSession): string | undefined {
  const reader = new TokenReader(sql);
  const { kind, text } = reader.peek();
  const word = kind !== "word" || text.length > longestWord ? "" : text.toUpperCase();
  if (word === "EXECUTE") {
    reader.take();
    return executedText(reader, session);
  }
  return dependsOnEngine.has(word) || mayNameSystem(sql) ? sql : undefined;
}

/** What becomes of a statement. Cost for one that is not about the session: its first word. */
export function handle(sql: string, session: TrinoSession, door: Behind): Handling {
  const reader = new TokenReader(sql);
  const { kind, text } = reader.peek();
  if (kind !== "word" || text.length > longestWord) return asItIs(sql);
  const word = text.toUpperCase();
  if (word === "EXECUTE") return execute(reader, session, door);
  return plain(word, reader, session, door) ?? asItIs(sql);
}

/** `DEALLOCATE`. */
const longestWord = 10;

/** Words of what a Trino is asked itself. */
const answersItself: ReadonlySet<string> = new Set(["USE", "SHOW", "DESC", "DESCRIBE"]);

function plain(
  word: string,
  reader: TokenReader,
  session: TrinoSession,
  door: Behind,
): Handling | undefined {
  if (byEngine(door) && answersItself.has(word)) return undefined;
  switch (word) {
    case "USE":
      reader.take();
      return use(reader, session, door);
    case "SET":
      reader.take();
      return set(reader, session, door);
    case "RESET":
      reader.take();
      return reset(reader, door);
    case "SHOW":
      reader.take();
      return show(reader, session.session, door);
    case "DESC":
    case "DESCRIBE":
      reader.take();
      return describe(reader, session, door);
    case "PREPARE":
      reader.take();
      return prepare(reader, byEngine(door));
    case "DEALLOCATE":
      reader.take();
      return deallocate(reader, session, byEngine(door));
    case "START":
    case "BEGIN":
    case "COMMIT":
    case "ROLLBACK":
      return transactionRefusal(word, reader, session);
    default:
      return undefined;
  }
}

/** What was prepared may itself be a statement about the session. */
function execute(reader: TokenReader, session: TrinoSession, door: Behind): Handling {
  reader.take();
  const found = execution(reader, session, byEngine(door));
  if (!found.ok) return failure(found.error);
  const { sql, parameters } = found.value;
  const inner = new TokenReader(sql);
  const word = inner.peek().text.toUpperCase();
  if (notNested.has(word)) {
    const message = `${word} can not be executed as a prepared statement`;
    return failure(gatewayError("query.unsupported", { message }));
  }
  const local = parameters.length === 0 ? plain(word, inner, session, door) : undefined;
  return local ?? { kind: "run", sql, parameters, verbatim: false, headers: [] };
}

const notNested: ReadonlySet<string> = new Set(["PREPARE", "EXECUTE", "DEALLOCATE"]);

/** `DESCRIBE INPUT p`, `DESCRIBE OUTPUT p`, `DESCRIBE table`; anything else is the engine's. */
function describe(reader: TokenReader, session: TrinoSession, door: Behind): Handling | undefined {
  const side = reader.peek().text.toLowerCase();
  if (side === "input" || side === "output") {
    const ahead = new TokenReader(reader.rest());
    ahead.take();
    const prepared = describePrepared(side, ahead, session, door);
    if (prepared !== undefined) return prepared;
  }
  return showColumns(reader, door);
}

/** `USE catalog.schema` or `USE schema`. */
function use(reader: TokenReader, { session }: TrinoSession, door: Behind): Handling | undefined {
  const first = reader.name();
  const second = reader.mark(".") ? reader.name() : undefined;
  if (first === undefined || !reader.atEnd()) return undefined;
  if (second === undefined) return changedBy("USE", catalogChange(undefined, first));
  const known = door.catalogs(session);
  if (known.length > 0 && !known.some((name) => name.toLowerCase() === first.toLowerCase())) {
    return failure(unknownCatalog(first));
  }
  return changedBy("USE", catalogChange(first, second));
}

function set(reader: TokenReader, { session }: TrinoSession, door: Behind): Handling | undefined {
  if (reader.word("ROLE")) return setRole(reader, session);
  if (reader.word("PATH")) return setPath(reader, door);
  if (reader.words("TIME", "ZONE")) return byEngine(door) ? undefined : setTimeZone(reader);
  if (!reader.word("SESSION")) return undefined;
  if (reader.peek().text.toUpperCase() === "AUTHORIZATION") return failure(noOtherUser);
  // It knows which properties there are, and computes values.
  if (byEngine(door) && !namesTags(reader)) return undefined;
  return setSession(reader);
}

function setPath(reader: TokenReader, door: Behind): Handling {
  const headers = [[responseHeader.setPath, headerText(reader.rest())]] as const;
  return byEngine(door) ? asItIs(reader.sql, headers) : changed("SET PATH", headers);
}

/** `SET SESSION name = literal`, the name with its catalog or without. */
function setSession(reader: TokenReader): Handling {
  const name = propertyName(reader);
  if (name === undefined || !reader.mark("="))
    return refused("SET SESSION needs a name and a value");
  const literal = readLiteral(reader);
  if (!literal.ok) return failure(literal.error);
  const value = literalText(literal.value);
  if (typeof value !== "string" || !reader.atEnd()) {
    return refused("the value of a session property is a text, a number or a boolean");
  }
  if (name === timeZoneProperty && sessionZone(value) === undefined) {
    return failure(unknownZone(value));
  }
  return changedBy("SET SESSION", { kind: "setting", name, value });
}

function byEngine({ speaksTrino }: Behind): boolean {
  return speaksTrino === true;
}

function reset(reader: TokenReader, door: Behind): Handling | undefined {
  if (!reader.word("SESSION")) return undefined;
  if (reader.word("AUTHORIZATION")) {
    return changed("RESET SESSION AUTHORIZATION", [
      [responseHeader.resetAuthorizationUser, "true"],
    ]);
  }
  if (byEngine(door) && !namesTags(reader)) return undefined;
  const name = propertyName(reader);
  if (name === undefined || !reader.atEnd()) return refused("RESET SESSION needs a name");
  return changedBy("RESET SESSION", { kind: "setting", name, value: undefined });
}

/** Whether the property that comes next is the gateway's own. Moves nothing. */
function namesTags(reader: TokenReader): boolean {
  const ahead = new TokenReader(reader.rest());
  return propertyName(ahead)?.toLowerCase() === tagsProperty;
}

function propertyName(reader: TokenReader): string | undefined {
  const first = reader.name();
  if (first === undefined || !reader.mark(".")) return first;
  const second = reader.name();
  return second === undefined ? undefined : `${first}.${second}`;
}

/** `SET TIME ZONE 'Europe/Berlin'`, `LOCAL`, or an interval of hours and minutes. */
function setTimeZone(reader: TokenReader): Handling {
  if (reader.word("LOCAL")) return changedBy("SET TIME ZONE", zoneChange(undefined));
  const interval = reader.word("INTERVAL");
  const text = interval ? intervalZone(reader) : reader.string();
  if (text === undefined || !reader.atEnd())
    return refused("SET TIME ZONE needs the name of a zone");
  if (sessionZone(text) === undefined) return failure(unknownZone(text));
  return changedBy("SET TIME ZONE", zoneChange(text));
}

/** `INTERVAL '-08:00' HOUR TO MINUTE` or `INTERVAL '10' HOUR` as an offset. */
function intervalZone(reader: TokenReader): string | undefined {
  const negative = reader.mark("-");
  const text = reader.string();
  const match = /^([+-]?)(\d{1,2})(?::(\d{2}))?$/.exec(text?.trim() ?? "");
  if (match === null || !reader.word("HOUR")) return undefined;
  if (reader.word("TO") && !reader.word("MINUTE")) return undefined;
  const [, sign, hours = "", minutes = "00"] = match;
  const west = (sign === "-") !== negative;
  return `${west ? "-" : "+"}${hours.padStart(2, "0")}:${minutes}`;
}

function zoneChange(value: string | undefined): HeaderChange {
  return { kind: "setting", name: timeZoneSetting, value };
}

function catalogChange(catalog: string | undefined, schema: string): HeaderChange {
  return { kind: "catalog", catalog, schema };
}

type HeaderChange = Extract<SessionChange, { kind: "catalog" | "setting" }>;

function changedBy(updateType: string, change: HeaderChange): Handling {
  return changed(updateType, changeHeaders(change));
}

const noOtherUser: GatewayError = gatewayError("query.permission", {
  message: "Access Denied: another user's authorization can not be taken over",
});

function unknownCatalog(name: string): GatewayError {
  const message = `Catalog '${name}' not found`;
  return gatewayError("query.unknownObject", { message, sqlState: "3D000" });
}
