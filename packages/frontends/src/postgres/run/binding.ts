/** The values of a Bind message as typed parameters: who names their types, and when an engine is asked for them. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Description } from "@gateway/core/query/event.ts";
import type { PostgresCall } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { DataType, Parameter } from "@gateway/core/type/type.ts";
import type { Zone } from "@gateway/core/type/zone.ts";
import type { FrontendMessage } from "@gateway/wire/postgres/message.ts";
import { leavesTypesOpen, parameterType, type TypeMemory } from "./described.ts";
import { readParameter } from "../value/parameter.ts";
import type { Prepared } from "../read/statement.ts";

/** Tells what a prepared statement takes and gives, and asks for it only once. */
export type Describe = (prepared: Prepared) => Promise<Result<Description, GatewayError>>;

type Bind = Extract<FrontendMessage, { kind: "bind" }>;

export interface BindingParts {
  readonly memory: TypeMemory;
  /** Where instants without an offset are read. */
  readonly zone: Zone;
  readonly describe: Describe;
}

export type ReadParameters = Result<readonly Parameter[], GatewayError>;

/** The parameters, or what is wrong with one of them or with their number. A promise only where the engine is asked. */
export function readParameters(
  prepared: Prepared,
  message: Bind,
  parts: BindingParts,
): ReadParameters | Promise<ReadParameters> {
  const types = typesOf(prepared, message.values.length, parts);
  return types instanceof Promise
    ? types.then((asked) => readWith(asked, prepared, message, parts))
    : readWith(types, prepared, message, parts);
}

/** Why a Bind names formats of some of its values. */
export function wrongFormats({ formats, values }: Bind): GatewayError | undefined {
  if (formats.length <= 1 || formats.length === values.length) return undefined;
  const message = `bind message has ${formats.length} parameter formats but ${values.length} parameters`;
  return gatewayError("query.parameters", { sqlState: "08P01", message });
}

/** Why a Bind of a statement whose parameters are known has too many values, or too few. */
export function wrongCount({ description }: Prepared, message: Bind): GatewayError | undefined {
  const wanted = description?.parameters.length ?? message.values.length;
  return wanted === message.values.length ? undefined : countError(wanted, message);
}

function readWith(
  types: Types,
  prepared: Prepared,
  message: Bind,
  { memory, zone }: BindingParts,
): ReadParameters {
  if (!types.ok) return types;
  const { values, formats } = message;
  const wanted = Math.max(types.value.length, prepared.types.length);
  if (wanted !== values.length) {
    memory.forget(prepared);
    return err(countError(wanted, message));
  }
  const parameters: Parameter[] = [];
  for (const [index, value] of values.entries()) {
    const format = (formats.length === 1 ? formats[0] : formats[index]) ?? 0;
    const type = parameterType(prepared, types.value, index);
    const read = readParameter(value, format, type, { number: index + 1, zone });
    if (!read.ok) {
      memory.forget(prepared);
      return read;
    }
    parameters.push(read.value);
  }
  return ok(parameters);
}

type Types = Result<readonly DataType[], GatewayError>;

/** The engine's types of the parameters. It is asked only where the client left a type open. */
function typesOf(prepared: Prepared, count: number, parts: BindingParts): Types | Promise<Types> {
  const known = prepared.description?.parameters ?? parts.memory.get(prepared);
  if (known !== undefined) return ok(known);
  return leavesTypesOpen(prepared, count) ? askTypes(prepared, parts) : ok([]);
}

async function askTypes(prepared: Prepared, { memory, describe }: BindingParts): Promise<Types> {
  const described = await describe(prepared);
  if (!described.ok) return described;
  memory.put(prepared, described.value.parameters);
  return ok(described.value.parameters);
}

function countError(wanted: number, { statement, values }: Bind): GatewayError {
  const message = `bind message supplies ${values.length} parameters, but prepared statement "${statement}" requires ${wanted}`;
  return gatewayError("query.parameters", { sqlState: "08P01", message });
}

/** What a server gets of a statement that is relayed. `behind`: maybe before the answer to the one before it. */
export function callOf(
  { types }: Prepared,
  { statement, formats, values, resultFormats }: Bind,
  behind: boolean = false,
): PostgresCall {
  const name = statement === "" ? undefined : statement;
  return { types, formats, values, resultFormats, simple: false, statement: name, behind };
}

/** Bytes of the values, as they count towards what one connection keeps. */
export function bytesOf({ values }: Bind): number {
  let bytes = 0;
  for (const value of values) bytes += (value?.length ?? 0) + valueBytes;
  return bytes;
}

/** What a value costs beside its bytes. */
const valueBytes = 8;
