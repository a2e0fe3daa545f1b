/** The values of one execution: as they came with what was sent ahead, and typed for an engine. */
import type { GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { DataType, Parameter } from "@gateway/core/type/type.ts";
import { isCharacterSet } from "@gateway/wire/mysql/charset/characterSet.ts";
import {
  parseExecute,
  recoded,
  type BoundParameters,
  type BoundType,
  type ExecuteValues,
} from "@gateway/wire/mysql/execute.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { errorReply, ownErrors } from "../errors.ts";
import { parameterOf } from "./parameters.ts";

type ValueContext = Parameters<typeof parameterOf>[3];

/** What is kept of statements from one execution to the next. */
interface Kept {
  takeLongData(id: number): {
    readonly values: ReadonlyMap<number, Uint8Array>;
    readonly overflowed: boolean;
  };
  types(id: number): readonly BoundType[] | undefined;
  bind(id: number, types: readonly BoundType[]): void;
}

/** A statement, with the types of its places. */
interface Bindable {
  readonly id: number;
  readonly parameters: readonly DataType[];
}

/** The type of a place of which only the value tells. */
export const unknown = { kind: "null" } as const;

/** The values of an execution, with those that were sent ahead. */
export function boundValues(
  prepared: Kept,
  { id, parameters }: { readonly id: number; readonly parameters: number },
  body: Uint8Array,
): Result<BoundParameters, ErrorReply> {
  const { values: longData, overflowed } = prepared.takeLongData(id);
  if (overflowed) return err(ownErrors.longDataTooLarge());
  const parsed = parseExecute(body, { parameters, types: prepared.types(id), longData });
  if (parsed.kind === "violation") return err(ownErrors.malformedParameters());
  prepared.bind(id, parsed.types);
  return ok(parsed);
}

/** The same for an engine that takes values by its own types. */
export function typedValues(
  context: ValueContext,
  prepared: Kept,
  statement: Bindable,
  body: Uint8Array,
): Result<readonly Parameter[], ErrorReply> {
  const { id, parameters } = statement;
  const parsed = boundValues(prepared, { id, parameters: parameters.length }, body);
  if (!parsed.ok) return parsed;
  const typed = typedBy(parsed.value, statement, context);
  return typed.ok ? typed : err(errorReply(typed.error));
}

/** The values as texts go to a server: as utf8mb4. */
export function valuesRead(
  { charset }: { readonly charset: { readonly name: string } & Pick<ValueContext, "decode"> },
  bound: Parameters<typeof recoded>[0],
  longData: ReadonlyMap<number, Uint8Array>,
): Result<ExecuteValues, ErrorReply> {
  if (!isCharacterSet(charset.name)) return ok({ body: bound.body, longData });
  const values = recoded(bound, longData, charset.decode);
  return values === undefined ? err(ownErrors.malformedParameters()) : ok(values);
}

function typedBy(
  { types, values }: BoundParameters,
  { parameters }: Bindable,
  context: ValueContext,
): Result<readonly Parameter[], GatewayError> {
  const typed: Parameter[] = [];
  for (const [index, value] of values.entries()) {
    const bound = types[index];
    if (bound === undefined) continue;
    const parameter = parameterOf(value, bound, parameters[index] ?? unknown, context);
    if (!parameter.ok) return parameter;
    typed.push(parameter.value);
  }
  return ok(typed);
}
