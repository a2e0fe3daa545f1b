/** The quoting of PostgreSQL: the only place where a name, a text or a parameter becomes part of what is sent. */
import { columnOf, batchOf } from "@gateway/core/type/build.ts";
import { cellWriter, postgresText } from "@gateway/core/type/text.ts";
import type { Parameter } from "@gateway/core/type/type.ts";

/** A name in quotes, where nothing but the quote itself is special. NUL can not be part of a name, and throws. */
export function quoteIdentifier(name: string): string {
  return `"${withoutNul(name).replaceAll('"', '""')}"`;
}

/** A text literal. A backslash means itself: `standard_conforming_strings` is on for every connection here. */
export function quoteText(text: string): string {
  return `'${withoutNul(text).replaceAll("'", "''")}'`;
}

function withoutNul(text: string): string {
  if (text.includes("\0")) throw new RangeError("NUL in a text for the engine");
  return text;
}

/** A parameter in PostgreSQL's text format, as Bind takes it; undefined is NULL. */
export function boundText({ type, value }: Parameter): Uint8Array | undefined {
  if (value === null) return undefined;
  if (type.kind === "binary" && value instanceof Uint8Array)
    return Buffer.from(`\\x${Buffer.from(value).toString("hex")}`, "latin1");
  const [vector] = batchOf([columnOf("p", type)], [[value]]).columns;
  if (vector === undefined) throw new Error("a batch without its column");
  const writer = cellWriter(vector, postgresText);
  const bytes = new Uint8Array(writer.bound(0));
  return bytes.subarray(0, writer.write(bytes, 0, 0));
}
