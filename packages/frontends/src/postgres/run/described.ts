/** What is known of a prepared statement's parameters and columns, and whose word counts. Pure. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Description } from "@gateway/core/query/event.ts";
import { err, type Result } from "@gateway/core/result.ts";
import type { Column, DataType, Parameter } from "@gateway/core/type/type.ts";
import { castTypes } from "../value/casts.ts";
import { localColumns } from "../commands/localAnswer.ts";
import { untyped, type ParameterType } from "../value/parameter.ts";
import type { Prepared } from "../read/statement.ts";

import { announcedOf, columnShape, parameterShape } from "../value/types.ts";

/** Columns as far as they are known without asking the engine; undefined when they are not. */
export function knownColumns({
  kind,
  description,
  copies,
}: Prepared): readonly Column[] | undefined {
  if (copies === true) return [];
  switch (kind.kind) {
    case "empty":
    case "transaction":
    case "division":
    case "copy":
    case "declare":
      return [];
    case "cursor":
      return kind.cursor.kind === "fetch" && kind.cursor.shown ? undefined : [];
    case "local":
      return localColumns(kind.local) ?? [];
    case "query":
      return description?.columns;
  }
}

/** Columns that the client was told, so that the engine's result must have them. Our own answers always do. */
export function promisedColumns({ kind, description }: Prepared): readonly Column[] | undefined {
  return kind.kind === "query" ? description?.columns : undefined;
}

/** The client's own types as typed NULLs, so that an engine can tell the rest from them. */
export function declaredNulls({ types }: Prepared): readonly Parameter[] {
  if (types.every((oid) => oid === 0)) return [];
  return types.map((oid) => ({ type: parameterShape(oid)?.type ?? { kind: "null" }, value: null }));
}

/** True when the client left the type of one of the first `count` parameters to the engine. */
export function leavesTypesOpen({ types }: Prepared, count: number): boolean {
  return types.length < count || types.includes(0);
}

/** The type of a parameter: the client's word counts first, then the engine's, then a cast beside it, then text. */
export function parameterType(
  prepared: Prepared,
  described: readonly DataType[],
  index: number,
): ParameterType {
  const declared = prepared.types[index] ?? 0;
  if (declared !== 0) return typeOf(declared);
  const type = described[index] ?? { kind: "null" };
  if (type.kind !== "null" && type.kind !== "text") return { oid: columnShape(type).oid, type };
  // An engine that knows no better says text: the client's own cast tells more.
  prepared.casts ??= castTypes(prepared.sql);
  const cast = prepared.casts.get(index + 1);
  if (cast !== undefined) return typeOf(cast);
  return type.kind === "text" ? { oid: columnShape(type).oid, type } : untyped;
}

function typeOf(oid: number): ParameterType {
  return { oid, type: parameterShape(oid)?.type ?? untyped.type };
}

/** The id a client is told for a parameter: its own, the engine's, or text. */
export function parameterOid(
  prepared: Prepared,
  described: readonly DataType[],
  index: number,
): number {
  const { oid } = parameterType(prepared, described, index);
  return oid === 0 ? columnShape(untyped.type).oid : oid;
}

/** True when the columns are as the client was told: it reads the bytes by that. */
export function sameShape(promised: readonly Column[], columns: readonly Column[]): boolean {
  if (promised === columns) return true;
  return (
    promised.length === columns.length &&
    promised.every((told, index) => {
      const column = columns[index];
      return column !== undefined && oidOf(told) === oidOf(column);
    })
  );
}

function oidOf(column: Column): number {
  return announcedOf(column).oid;
}

/** The error where they are not. Drivers prepare anew where PostgreSQL's own function is named for it, and not else. */
export function changedResult(): GatewayError {
  const message = "cached plan must not change result type";
  const vendor = { of: "postgres", fields: new Map([["R", "RevalidateCachedQuery"]]) } as const;
  return gatewayError("query.invalid", { sqlState: "0A000", message, vendor });
}

/** A message has 16 bits for the number of columns, and most clients read them with a sign. */
const columnsMax = 32_767;

/** Why a result has too many columns for this protocol; undefined when it has not. */
export function widthError(columns: readonly unknown[]): GatewayError | undefined {
  if (columns.length <= columnsMax) return undefined;
  const message = `the result has ${columns.length} columns; at most ${columnsMax} can be sent`;
  return gatewayError("query.unsupported", { message, sqlState: "54011" });
}

/**
 * The error of a portal. A server that reads the text anew says that the client's formats do not fit, where one that
 * had it prepared says what happened: the columns are others than its client was told.
 */
export function portalError(
  { description }: Prepared,
  formats: readonly unknown[],
  error: GatewayError,
): GatewayError {
  const routine = error.vendor?.of === "postgres" ? error.vendor.fields.get("R") : undefined;
  const fitted = description?.columns.length === formats.length;
  return routine === "PortalSetResultFormat" && fitted ? changedResult() : error;
}

/** Remembers an engine's description in the statement, or refuses one with too many columns. */
export function keptDescription(
  prepared: Prepared,
  described: Result<Description, GatewayError>,
): Result<Description, GatewayError> {
  if (!described.ok) return described;
  const wide = widthError(described.value.columns);
  if (wide !== undefined) return err(wide);
  if (prepared.varies !== true) prepared.description = described.value;
  return described;
}

/** The answer to a Bind whose formats do not fit the result. */
export function formatCountError(formats: number, columns: number): GatewayError {
  const message = `bind message has ${formats} result formats but query has ${columns} columns`;
  return gatewayError("query.parameters", { sqlState: "08P01", message });
}

/** The most texts remembered per connection, and the longest of them. */
const textsMax = 100;
const textLengthMax = 2000;

/**
 * Parameter types of texts that were asked about before: drivers without named statements send the
 * same text again and again, and each question to the engine costs as much as a query.
 *
 * Only the reading of values depends on it. When a value or a statement fails, its text is forgotten.
 */
export class TypeMemory {
  #known: Map<string, readonly DataType[]> | undefined;

  get(prepared: Prepared): readonly DataType[] | undefined {
    return this.#known?.get(keyOf(prepared));
  }

  put(prepared: Prepared, types: readonly DataType[]): void {
    if (prepared.text.length > textLengthMax) return;
    const known = (this.#known ??= new Map());
    const [oldest] = known.keys();
    if (known.size >= textsMax && oldest !== undefined) known.delete(oldest);
    known.set(keyOf(prepared), types);
  }

  forget(prepared: Prepared): void {
    this.#known?.delete(keyOf(prepared));
  }

  /** After a statement that may have changed the tables. */
  forgetAll(): void {
    this.#known = undefined;
  }
}

function keyOf({ text, types }: Prepared): string {
  return `${types.join(",")} ${text}`;
}
