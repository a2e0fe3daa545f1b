/** One statement on a connection of PostgreSQL's protocol, with all of the answer that a client can see. */
import {
  bindOf,
  describeOf,
  executeOf,
  fieldsOf,
  parseOf,
  queryOf,
  rawCellsOf,
  type RawClient,
  sync,
  type Seen,
} from "@gateway/frontends/postgres/rig/rawClient.ts";
import { parameterShape } from "@gateway/frontends/postgres/value/types.ts";
import type { Scripted } from "./postgresPick.ts";

/** A statement as it is asked. Without `values` it is a simple query. */
export interface Asked {
  readonly sql: string;
  readonly values?: readonly (Uint8Array | string | null)[];
  /** Types that the client names; 0 leaves one to the server. */
  readonly types?: readonly number[];
  /** Formats of the values, and of the result: 0 text, 1 binary. */
  readonly formats?: readonly number[];
  readonly resultFormat?: 0 | 1;
}

/** What came back of one statement. */
export interface Answer {
  readonly columns: readonly AnsweredColumn[];
  /** Cells as text; binary ones in hexadecimal digits. */
  readonly rows: readonly (readonly (string | null)[])[];
  readonly tags: readonly string[];
  readonly error: Readonly<Record<string, string>> | undefined;
  /** Whether a transaction is open: `I`, `T` or `E`. */
  readonly status: string;
}

export interface AnsweredColumn {
  readonly name: string;
  readonly type: number;
  readonly binary: boolean;
}

/** Asks and waits for the whole answer. A connection that ends says so in the error. */
export async function asked(client: RawClient, statement: Asked): Promise<Answer> {
  const { sql, values, types = [], formats = [], resultFormat } = statement;
  if (values === undefined) {
    client.send(queryOf(sql));
  } else {
    const resultFormats = resultFormat === undefined ? [] : [resultFormat];
    client.send(
      parseOf("", sql, types),
      bindOf({ values, formats, resultFormats }),
      describeOf("P"),
      executeOf(),
      sync,
    );
  }
  return answerOf(await client.until("Z"));
}

function answerOf(messages: readonly Seen[]): Answer {
  let columns: readonly AnsweredColumn[] = [];
  const rows: (string | null)[][] = [];
  const tags: string[] = [];
  let error: Readonly<Record<string, string>> | undefined;
  for (const message of messages) {
    if (message.type === "T") columns = columnsOf(message.body);
    if (message.type === "D") rows.push(cells(message, columns));
    if (message.type === "C") tags.push(message.body.toString("utf8").replace("\0", ""));
    if (message.type === "E") error = fieldsOf(message);
  }
  const last = messages.at(-1);
  if (last?.type !== "Z")
    return { columns, rows, tags, error: { C: "gone", ...error }, status: "" };
  return { columns, rows, tags, error, status: last.body.toString("latin1") };
}

function cells(row: Seen, columns: readonly AnsweredColumn[]): (string | null)[] {
  return rawCellsOf(row).map((cell, index) =>
    cell === null ? null : cell.toString(columns[index]?.binary === true ? "hex" : "utf8"),
  );
}

function columnsOf(body: Buffer): AnsweredColumn[] {
  const columns: AnsweredColumn[] = [];
  let at = 2;
  for (let left = body.readInt16BE(0); left > 0; left -= 1) {
    const end = body.indexOf(0, at);
    const name = body.toString("utf8", at, end);
    columns.push({
      name,
      type: body.readUInt32BE(end + 7),
      binary: body.readInt16BE(end + 17) === 1,
    });
    at = end + 19;
  }
  return columns;
}

/** Numbers of types by the names that the statements use; 0 for those that no client of the gateway may name. */
export async function typesOf(
  client: RawClient,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const types = new Map<string, number>();
  for (const name of names) {
    const [[oid] = []] = (await asked(client, { sql: `select '${name}'::regtype::oid` })).rows;
    // A parameter of a type that the gateway does not have is taken for one without a type.
    types.set(
      name,
      parameterShape(Number(oid)) === undefined || name === '"char"' ? 0 : Number(oid),
    );
  }
  return types;
}

/** The statement as it is sent. Binary values are those in which the server itself sends them. */
export async function sentOf(
  server: RawClient,
  types: ReadonlyMap<string, number>,
  { sql, form, binaryRows, values }: Scripted,
): Promise<Asked> {
  if (form === "simple") return { sql };
  const resultFormat = binaryRows ? 1 : 0;
  const plain = { sql, resultFormat, values: values.map(({ text }) => text) } as const;
  if (form === "untyped") return plain;
  const typed = { ...plain, types: values.map(({ type }) => types.get(type) ?? 0) };
  if (form === "typed") return typed;
  const formats: number[] = [];
  const bytes: (Uint8Array | string | null)[] = [];
  for (const [index, { text, type }] of values.entries()) {
    const named = typed.types[index] !== 0 && text !== null;
    const made = named ? await binaryOf(server, type, text) : undefined;
    formats.push(made === undefined ? 0 : 1);
    bytes.push(made ?? text);
  }
  return { ...typed, formats, values: bytes };
}

async function binaryOf(
  server: RawClient,
  type: string,
  text: string,
): Promise<Uint8Array | undefined> {
  const statement = { sql: `select $1::${type}`, values: [text], resultFormat: 1 } as const;
  const [[digits] = []] = (await asked(server, statement)).rows;
  return typeof digits === "string" ? Buffer.from(digits, "hex") : undefined;
}
