/**
 * Prepared statements of Trino's clients: the client keeps the text and sends it along, we turn `?` into `$1`
 * and literals into typed values. Routers see the statement itself. A Trino gets the values as they were
 * written.
 */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { readLongText } from "@gateway/core/sql/longText.ts";
import {
  findPlaceholders,
  placeholdersMax,
  placeholdersReading,
  rewritePlaceholders,
  type PlaceholdersError,
} from "@gateway/core/sql/rewrite/placeholders.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import type { DataType, Parameter } from "@gateway/core/type/type.ts";
import { formEncode, responseHeader } from "@gateway/wire/trino/headers.ts";
import {
  asItIs,
  changed,
  described,
  failure,
  integerColumn,
  refused,
  textColumn,
  type DescriptionTable,
  type Handling,
} from "../read/handling.ts";
import { readExpressions } from "../read/expression.ts";
import { readLiterals } from "../read/literal.ts";
import type { TrinoSession } from "../session/session.ts";
import { TokenReader } from "../read/tokens.ts";
import { displayName } from "../value/types.ts";

/** A statement to run, and the values of its parameters. */
export interface Execution {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** A client sends every prepared statement with every request, and HTTP servers limit what they read. */
const preparedBytesMax = 32 * 1024;

/** Statements about prepared statements can not be prepared themselves. */
const notPreparable: ReadonlySet<string> = new Set(["PREPARE", "EXECUTE", "DEALLOCATE"]);

/**
 * `PREPARE name FROM statement`, behind its first word. The client keeps the text as it wrote it, also where
 * `byEngine` asks a Trino, which would write it anew, whether it is one.
 */
export function prepare(reader: TokenReader, byEngine: boolean): Handling {
  const name = reader.exactName();
  if (name === undefined || !reader.word("FROM")) return refused("PREPARE needs a name and FROM");
  const sql = reader.rest();
  const first = reader.peek().text.toUpperCase();
  if (sql === "") return refused("PREPARE needs a statement");
  if (!byEngine && notPreparable.has(first)) {
    const message = `Invalid statement type for prepared statement: ${first}`;
    return failure(gatewayError("query.unsupported", { message }));
  }
  const value = `${formEncode(name)}=${formEncode(sql)}`;
  if (value.length > preparedBytesMax) {
    const message = `A prepared statement may be ${preparedBytesMax} bytes long when encoded.`;
    return failure(gatewayError("query.unsupported", { message }));
  }
  const headers = [[responseHeader.addedPrepare, value]] as const;
  return byEngine ? asItIs(reader.sql, headers) : changed("PREPARE", headers);
}

/** `DEALLOCATE PREPARE name`, behind its first word. */
export function deallocate(
  reader: TokenReader,
  session: TrinoSession,
  byEngine: boolean,
): Handling {
  const name = reader.word("PREPARE") ? reader.exactName() : undefined;
  if (name === undefined || !reader.atEnd()) return refused("DEALLOCATE PREPARE needs a name");
  const headers = [[responseHeader.deallocatedPrepare, formEncode(name)]] as const;
  if (byEngine) return asItIs(reader.sql, headers);
  if (!session.prepared.has(name)) return failure(unknownStatement(name));
  return changed("DEALLOCATE", headers);
}

/** The text that `EXECUTE` runs, behind that word; undefined when it can not run. */
export function executedText(reader: TokenReader, session: TrinoSession): string | undefined {
  const sql = statementIn(reader, session);
  const placed = sql.ok ? placesOf(sql.value) : sql;
  return placed.ok ? placed.value.sql : undefined;
}

/**
 * `EXECUTE name USING …` and `EXECUTE IMMEDIATE '…' USING …`, behind the first word. `expressions`: the
 * engine takes values as the client wrote them.
 */
export function execution(
  reader: TokenReader,
  session: TrinoSession,
  expressions: boolean,
): Result<Execution, GatewayError> {
  const sql = statementIn(reader, session);
  if (!sql.ok) return sql;
  const parameters = using(reader, expressions);
  if (!parameters.ok) return parameters;
  const placed = placesOf(sql.value);
  if (!placed.ok) return placed;
  const { length } = parameters.value;
  if (placed.value.count !== length) {
    const message = `Incorrect number of parameters: expected ${placed.value.count} but found ${length}`;
    return err(gatewayError("query.parameters", { message }));
  }
  return ok({ sql: placed.value.sql, parameters: parameters.value });
}

/** Reads the long text in an `EXECUTE IMMEDIATE` twice: as the client wrote it, and as it is sent on. False where it has too many tokens. */
export function* immediateAhead(sql: string, tokensMax: number): Steps<boolean> {
  const reader = new TokenReader(sql);
  if (!reader.words("EXECUTE", "IMMEDIATE")) return true;
  const held = immediate(reader);
  if (!held.ok) return true;
  if (!(yield* readLongText(held.value, "trino", tokensMax))) return false;
  yield* placeholdersReading("trino").ahead(held.value);
  const placed = placesOf(held.value);
  if (!placed.ok || placed.value.count === 0) return true;
  return yield* readLongText(placed.value.sql, "trino", tokensMax);
}

function statementIn(reader: TokenReader, session: TrinoSession): Result<string, GatewayError> {
  return reader.word("IMMEDIATE") ? immediate(reader) : named(reader, session);
}

function immediate(reader: TokenReader): Result<string, GatewayError> {
  const sql = reader.string();
  // An empty text is no statement that could fail: Trino refuses it as a request.
  return sql === undefined || sql.trim() === ""
    ? err(syntax("EXECUTE IMMEDIATE needs a statement as a string"))
    : ok(sql);
}

function named(reader: TokenReader, session: TrinoSession): Result<string, GatewayError> {
  const name = reader.exactName();
  if (name === undefined) return err(syntax("EXECUTE needs the name of a prepared statement"));
  const sql = session.prepared.get(name);
  return sql === undefined ? err(unknownStatement(name)) : ok(sql);
}

function using(
  reader: TokenReader,
  expressions: boolean,
): Result<readonly Parameter[], GatewayError> {
  if (reader.atEnd()) return ok([]);
  if (reader.word("USING")) return expressions ? readExpressions(reader) : readLiterals(reader);
  return err(syntax("only USING and values may follow the statement"));
}

/** `DESCRIBE INPUT name` and `DESCRIBE OUTPUT name`, behind the word that says which. */
export function describePrepared(
  side: "input" | "output",
  reader: TokenReader,
  session: TrinoSession,
  door: Pick<Door, "describe">,
): Handling | undefined {
  const name = reader.exactName();
  // `DESCRIBE input` alone asks for the columns of a table of that name.
  if (name === undefined || !reader.atEnd()) return undefined;
  const sql = session.prepared.get(name);
  if (sql === undefined) return failure(unknownStatement(name));
  const placed = placesOf(sql);
  if (!placed.ok) return failure(placed.error);
  const table = side === "input" ? inputTable(placed.value.count) : outputTable;
  return described(placed.value.sql, table, door);
}

/** Every place of the statement, also where the engine has no type for it. */
function inputTable(count: number): DescriptionTable {
  return {
    columns: [integerColumn("Position"), textColumn("Type")],
    rows: ({ parameters }) =>
      Array.from({ length: count }, (_, index) => [
        BigInt(index),
        displayName(parameters[index] ?? { kind: "null" }),
      ]),
  };
}

const outputTable: DescriptionTable = {
  columns: [
    textColumn("Column Name"),
    textColumn("Catalog"),
    textColumn("Schema"),
    textColumn("Table"),
    textColumn("Type"),
    integerColumn("Type Size"),
    columnOf("Aliased", { kind: "boolean" }),
  ],
  rows: ({ columns }) =>
    columns.map(({ name, type }) => [name, "", "", "", displayName(type), typeSize(type), false]),
};

/** Bytes of a value of fixed width, otherwise 0, as Trino shows them. */
function typeSize(type: DataType): bigint {
  switch (type.kind) {
    case "integer":
    case "float":
      return BigInt(type.bits / 8);
    case "decimal":
      return type.precision > 18 ? 16n : 8n;
    case "boolean":
    case "null":
      return 1n;
    case "date":
      return 4n;
    case "time":
    case "timestamp":
      return 8n;
    case "uuid":
      return 16n;
    case "interval":
    case "text":
    case "json":
    case "binary":
    case "list":
    case "struct":
    case "map":
      return 0n;
  }
}

function unknownStatement(name: string): GatewayError {
  const message = `Prepared statement not found: ${name}`;
  return gatewayError("query.unknownObject", { message });
}

function syntax(message: string): GatewayError {
  return gatewayError("query.syntax", { message });
}

/** The statement with `$1`, `$2`, … for its question marks, and how many there are. */
function placesOf(
  sql: string,
): Result<{ readonly sql: string; readonly count: number }, GatewayError> {
  const found = findPlaceholders(sql, "trino");
  if (!found.ok) return err(placesError(found.error));
  return ok({
    sql: rewritePlaceholders(found.value, "dollarNumber").sql,
    count: found.value.count,
  });
}

function placesError({ code }: PlaceholdersError): GatewayError {
  switch (code) {
    case "unterminated":
      return syntax("the statement ends inside a string or a comment");
    case "placeholderOutOfRange":
      return gatewayError("query.parameters", {
        message: `A statement has at most ${placeholdersMax} parameters.`,
      });
    case "mixedPlaceholders":
      return gatewayError("query.parameters", {
        message: "The places of a statement must all be of one kind.",
      });
  }
}
