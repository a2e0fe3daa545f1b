/**
 * A function of the server that is called by its number, as libpq does for large objects.
 *
 * The number is asked for its name, and the call is then a statement like any other: routed, guarded and recorded
 * under its name, in the transaction that is open. Its one row becomes the answer.
 */
import { gatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { FrontendMessage } from "@gateway/wire/postgres/message.ts";
import type { Outbox } from "../outbox.ts";
import { failure, type Failure } from "../failure.ts";
import { Series, type SeriesParts } from "./series.ts";

export type FunctionCall = Extract<FrontendMessage, { kind: "functionCall" }>;

interface Called {
  /** `select "pg_catalog"."lo_open"($1, $2)` */
  readonly sql: string;
  /** Object ids of its arguments. */
  readonly types: readonly number[];
}

type Values = readonly (Uint8Array | undefined)[];

interface Asked extends Called, Pick<FunctionCall, "formats" | "values" | "resultFormat"> {}

/** Objects of the server itself, whose numbers never mean anything else (FirstNormalObjectId). */
const ownBelow = 16_384;
const oidType = 26;
/** Name and schema quoted, types of arguments; nothing for what is no plain function. */
const naming = `select quote_ident(n.nspname), quote_ident(p.proname), p.proargtypes::pg_catalog.text
  from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where p.oid = $1 and p.prokind = 'f' and not p.proretset`;

export class FunctionCalls {
  readonly #out: Outbox;
  readonly #bytesMax: number;
  /** Apart from the client's: its unnamed statement stays what it is. */
  readonly #series: Series;
  readonly #known = new Map<number, Called>();

  constructor(parts: SeriesParts) {
    this.#out = parts.out;
    this.#bytesMax = parts.maxMessageBytes;
    const inbox = { ...parts.inbox, ahead: () => "sync" as const, bound: () => true };
    this.#series = new Series({ ...parts, inbox });
  }

  async call(message: FunctionCall): Promise<Failure | undefined> {
    const called = this.#known.get(message.function) ?? (await this.#called(message.function));
    if ("error" in called) return called;
    const { values } = message;
    const wanted = called.types.length;
    if (values.length !== wanted) {
      const text = `function call message contains ${values.length} arguments but function requires ${wanted}`;
      return failure(gatewayError("query.invalid", { sqlState: "08P01", message: text }));
    }
    const row = await this.#row({ ...called, ...message });
    if (!row.ok) return row.error;
    this.#out.put({ kind: "functionCallResponse", value: row.value?.[0] });
    return undefined;
  }

  /** Whom a number means. */
  async #called(oid: number): Promise<Called | Failure> {
    const values = [Buffer.from(String(oid))];
    const row = await this.#row({
      sql: naming,
      types: [oidType],
      formats: [],
      values,
      resultFormat: 0,
    });
    if (!row.ok) return row.error;
    if (row.value === undefined) return failure(unknownError(oid));
    const [schema = "", name = "", words = ""] = row.value.map((value) =>
      value === undefined ? "" : Buffer.from(value).toString(),
    );
    const types = words.split(" ").filter(Boolean).map(Number);
    const places = types.map((_, index) => `$${index + 1}`).join(", ");
    const called = { sql: `select ${schema}.${name}(${places})`, types };
    if (oid < ownBelow) this.#known.set(oid, called);
    return called;
  }

  /** The first row; undefined where there is none. What else the server said reaches the client. */
  async #row(asked: Asked): Promise<Result<Values | undefined, Failure>> {
    const { value: failed, bytes } = await this.#out.aside(this.#bytesMax, () => this.#run(asked));
    if (failed !== undefined) return err(failed);
    if (bytes === undefined) return err(failure(largeError(this.#bytesMax)));
    return ok(rowIn(bytes, this.#out));
  }

  async #run({ sql, types, formats, values, resultFormat }: Asked): Promise<Failure | undefined> {
    const parsed = await this.#series.parse({ kind: "parse", statement: "", sql, types });
    if (parsed !== undefined) return parsed;
    const bound = await this.#series.bind({
      kind: "bind",
      portal: "",
      statement: "",
      formats,
      values,
      resultFormats: [resultFormat],
    });
    if (bound !== undefined) return bound;
    const failed = await this.#series.execute({ kind: "execute", portal: "", maxRows: 0 });
    await this.#series.dropUnnamed();
    return failed;
  }
}

const rowLetter = 0x44;
/** ParameterStatus, NoticeResponse, NotificationResponse: whatever else they come with, they are the client's. */
const passed: ReadonlySet<number> = new Set([0x53, 0x4e, 0x41]);
const headBytes = 5;

/** Values of the first DataRow among these messages. */
function rowIn(bytes: Uint8Array, out: Outbox): Values | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let row: Values | undefined;
  for (let at = 0; at + headBytes <= bytes.length;) {
    const end = at + 1 + view.getInt32(at + 1);
    const letter = bytes[at] ?? 0;
    if (letter === rowLetter) row ??= valuesIn(bytes.subarray(at + headBytes, end));
    else if (passed.has(letter)) out.writer.bytes(bytes.subarray(at, end));
    at = end;
  }
  return row;
}

function valuesIn(body: Uint8Array): Values {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const values: (Uint8Array | undefined)[] = [];
  let at = 2;
  for (let left = view.getInt16(0); left > 0; left -= 1) {
    const length = view.getInt32(at);
    at += 4;
    values.push(length < 0 ? undefined : body.subarray(at, at + length));
    at += Math.max(0, length);
  }
  return values;
}

function unknownError(oid: number): GatewayError {
  const message = `function with OID ${oid} does not exist, or is not one that can be called by it`;
  return gatewayError("query.unknownObject", { sqlState: "42883", message });
}

function largeError(bytesMax: number): GatewayError {
  const message = `the function's result is larger than the limit of ${bytesMax} bytes`;
  return gatewayError("query.unsupported", { sqlState: "54000", message });
}
