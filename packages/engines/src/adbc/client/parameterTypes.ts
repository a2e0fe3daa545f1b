/**
 * Parameters of PostgreSQL whose types nobody named. The driver binds them as text, and PostgreSQL takes no text
 * for a number, an enum or an address. So the server is asked what it would have inferred, as it does for
 * every client of its own protocol, and each such place is written with a cast to that.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import { findPlaceholders } from "@gateway/core/sql/rewrite/placeholders.ts";
import type { DataType, Parameter, Value } from "@gateway/core/type/type.ts";
import type { AdbcFailure } from "../../native/driver.ts";
import type { ConnectionStep } from "../../native/message.ts";
import { textOf } from "../listing.ts";
import type { Judged } from "../sql/guard.ts";
import type { Written } from "../sql/written.ts";
import { knownTypeOf } from "../types.ts";
import { instantText } from "./instantText.ts";
import { rowsOf } from "./rows.ts";
import { deepName, deepText, isDeep } from "./deepArrays.ts";
import type { EngineStatement, RunContext } from "./run.ts";

/** The statement with casts where a parameter has no type that its place takes; as it is for all other drivers. */
export async function withCasts(
  context: RunContext,
  statement: EngineStatement,
  signal: AbortSignal,
): Promise<Result<EngineStatement, AdbcFailure>> {
  const cast = await withOpenCasts(context, statement, signal);
  return cast.ok && context.profile.asksColumns ? ok(withInstants(cast.value)) : cast;
}

/**
 * The driver sets its own time zone around a statement with an instant among its parameters, and sends COMMIT behind
 * it, also in a transaction of the client's. So instants are bound as text.
 */
function withInstants(statement: EngineStatement): EngineStatement {
  const { written } = statement;
  const instants = written.parameters.map(({ type }) => type.kind === "timestamp" && type.zoned);
  if (!instants.includes(true)) return statement;
  const parameters = written.parameters.map((one, index) =>
    instants[index] === true ? { type: textFor(one.type), value: instantText(one) } : one,
  );
  const sql = castText(written.sql, (index) =>
    instants[index] === true ? "pg_catalog.timestamptz" : undefined,
  );
  return { ...statement, written: { ...written, sql, parameters } };
}

async function withOpenCasts(
  context: RunContext,
  statement: EngineStatement,
  signal: AbortSignal,
): Promise<Result<EngineStatement, AdbcFailure>> {
  const { written } = statement;
  const open = written.parameters.map(({ type }) => isOpen(type));
  if (!context.profile.asksColumns || !open.includes(true)) return ok(statement);
  const asked = written.parameters.some(({ type }) => isOpen(type) && !isNumeric(type));
  const inferred = asked
    ? await inferredTypes(context, statement, signal)
    : ok({ types: [], before: statement.before });
  if (!inferred.ok) return inferred;
  const { types, before } = inferred.value;
  const parameters = written.parameters.map((one, index) =>
    open[index] === true ? asText(one) : one,
  );
  const { sql } = written;
  const cast = castText(sql, (index) => {
    const given = written.parameters[index]?.type;
    return given === undefined || !isOpen(given) ? undefined : castFor(given, types[index]);
  });
  return ok({ ...statement, before, written: { ...written, sql: cast, parameters } });
}

/** Bound as text, whatever the place takes. */
function isOpen(type: DataType): boolean {
  if (isDeep(type)) return true;
  return type.kind === "list" ? isOpen(type.item) : openKinds.has(type.kind);
}

const openKinds: ReadonlySet<DataType["kind"]> = new Set(["text", "json", "null", "decimal"]);

/** The driver drops zeros at the end of a number, which PostgreSQL keeps: so it is bound as text too. */
function isNumeric(type: DataType): boolean {
  return type.kind === "list" ? isNumeric(type.item) : type.kind === "decimal";
}

function asText({ type, value }: Parameter): Parameter {
  if (isDeep(type)) {
    return { type: { kind: "text" }, value: value === null ? null : deepText(type, value) };
  }
  return { type: textFor(type), value: valueAsText(type, value) };
}

function valueAsText(type: DataType, value: Value): Value {
  if (type.kind === "list" && Array.isArray(value)) {
    return (value as readonly Value[]).map((item) => valueAsText(type.item, item));
  }
  return type.kind === "decimal" && typeof value === "bigint"
    ? decimalText(value, type.scale)
    : value;
}

/** What the place takes; where it takes anything, what the client said. */
function castFor(given: DataType, inferred: string | undefined): string | undefined {
  if (isDeep(given)) return deepName(given) ?? inferred;
  if (isNumeric(given)) return given.kind === "list" ? "pg_catalog._numeric" : "pg_catalog.numeric";
  // It is bound as a text anyway, and a cast would give its column another name.
  if (inferred === "pg_catalog.text") return undefined;
  return inferred ?? (given.kind === "json" ? "pg_catalog.json" : undefined);
}

function textFor(type: DataType): DataType {
  return type.kind === "list" ? { kind: "list", item: textFor(type.item) } : { kind: "text" };
}

function castText(sql: string, typeAt: (index: number) => string | undefined): string {
  const found = findPlaceholders(sql, "postgres", ["dollarNumber"]);
  if (!found.ok) return sql;
  let text = "";
  let from = 0;
  for (const { start, end, index } of found.value.placeholders) {
    const type = typeAt(index - 1);
    const place = sql.slice(start, end);
    text += sql.slice(from, start) + (type === undefined ? place : castOf(place, type));
    from = end;
  }
  return text + sql.slice(from);
}

/** An operator that changes nothing keeps a query's column from being called by the type of a cast. */
function castOf(place: string, type: string): string {
  if (type === "pg_catalog.numeric") return `(+(${place}::${type}))`;
  // A text's cast to it looks for a name only, where a literal may be a number as well.
  if (type === "pg_catalog.regclass") {
    return `pg_catalog.regclassin(pg_catalog.textout(${place}::pg_catalog.text))`;
  }
  return `(${place}::${type})`;
}

/** An integer with its last digits behind a point. */
function decimalText(unscaled: bigint, scale: number): string {
  if (scale <= 0) return `${unscaled * 10n ** BigInt(-scale)}`;
  const digits = `${unscaled < 0n ? -unscaled : unscaled}`.padStart(scale + 1, "0");
  const point = digits.length - scale;
  return `${unscaled < 0n ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Names of types in the order of the parameters, quoted and with their schema; none where the server infers none. */
export interface Inferred {
  readonly types: readonly string[];
  /** The steps that the statement still needs. */
  readonly before: readonly ConnectionStep[];
}

/** What the server infers of a statement. */
export async function inferredTypes(
  context: RunContext,
  { written, judged, before }: EngineStatement,
  signal: AbortSignal,
): Promise<Result<Inferred, AdbcFailure>> {
  const { taken, pinned, known } = context;
  const { thread } = taken;
  if (!isPrepared(judged)) return ok({ types: [], before });
  const key = JSON.stringify([taken.standsAt(), written.original]);
  const remembered = known.parameters.get(key);
  if (remembered !== undefined) return ok({ types: remembered, before });
  const { era } = known;
  const gone = await thread.ask({ kind: "runAll", statements: before }, signal);
  if (!gone.ok) return gone;
  // An error would end the client's transaction, whose statement may be right all the same.
  const opens = pinned ? [`SAVEPOINT ${name}`] : [];
  const prepare = `PREPARE ${name} AS ${written.sql}`;
  const request = { sql: typesSql, expected: undefined, before: [...opens, prepare] };
  const rows = await rowsOf(context, request, signal);
  const closes = [
    ...(rows.ok ? [`DEALLOCATE ${name}`] : pinned ? [`ROLLBACK TO SAVEPOINT ${name}`] : []),
    ...(pinned ? [`RELEASE SAVEPOINT ${name}`] : []),
  ];
  const isAlive = rows.ok || rows.error.code === "driver";
  const closed = isAlive ? await thread.ask({ kind: "runAll", statements: closes }, signal) : rows;
  if (!closed.ok) return err(rows.ok ? closed.error : rows.error);
  // What is wrong with the text, the statement itself says best.
  if (!rows.ok) return ok({ types: [], before: [] });
  const types = rows.value.map(([type]) => textOf(type));
  known.put(known.parameters, key, types, era);
  return ok({ types, before: [] });
}

const name = "inferred_by_gateway";

/** What PREPARE takes: queries, and changes of rows. */
export function isPrepared({ plainQuery, updateType }: Judged): boolean {
  return plainQuery || preparedTypes.has(updateType ?? "");
}

const preparedTypes: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

/** By the names of the catalog: `character` without a length would be one character. */
const typesSql = `SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(t.typname)
FROM pg_catalog.pg_prepared_statements p
CROSS JOIN LATERAL pg_catalog.unnest(p.parameter_types) WITH ORDINALITY AS u(type, place)
JOIN pg_catalog.pg_type t ON t.oid = u.type JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
WHERE p.name = '${name}' ORDER BY u.place`;

/** The neutral type in which a value for a type of PostgreSQL can be sent: text for all that we do not have. */
export function sentAs(type: string): DataType {
  const own = /^pg_catalog\."?(_?)(\w+)"?$/.exec(type);
  if (own === null) return { kind: "text" };
  const [, array, plain = ""] = own;
  const item = plain === "numeric" ? anyNumeric : (knownTypeOf(plain) ?? { kind: "text" });
  return array === "" ? item : { kind: "list", item };
}

/** A value brings its own digits; this only says that it is a number. */
const anyNumeric: DataType = { kind: "decimal", precision: 38, scale: 0 };

/** Places of a statement that nobody has values for. */
export function openPlaces(
  written: Pick<Written, "places">,
  types: readonly string[],
): readonly DataType[] {
  return Array.from({ length: Math.max(written.places, types.length) }, (_, index): DataType => {
    const type = types[index];
    return type === undefined ? { kind: "null" } : sentAs(type);
  });
}
