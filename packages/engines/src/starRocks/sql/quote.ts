/** The quoting of MySQL's family: the only place where a name, a text or a parameter becomes part of SQL. */
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import { cellWriter, mysqlText } from "@gateway/core/type/text.ts";
import type { Parameter } from "@gateway/core/type/type.ts";

/** A name in back-ticks, where nothing but the back-tick itself is special. NUL can not be part of a name, and throws. */
export function quoteIdentifier(name: string): string {
  if (name.includes("\0")) throw new RangeError("NUL in a name for the engine");
  return `\`${name.replaceAll("`", "``")}\``;
}

/** A text literal. A backslash begins an escape on every connection that a session asked for nothing else on. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

/** The same for a connection under NO_BACKSLASH_ESCAPES. */
export function quotePlainText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A parameter as a literal of its type; undefined where MySQL's family has none. */
export function literalOf({ type, value }: Parameter): string | undefined {
  if (value === null) return "NULL";
  switch (type.kind) {
    case "null":
      return "NULL";
    case "boolean":
      return value === true ? "TRUE" : "FALSE";
    case "integer":
    case "decimal":
      // In brackets: `a -$1` must not become the comment `a --1`.
      return bracketed(textOf({ type, value }));
    case "float":
      return typeof value === "number" && Number.isFinite(value)
        ? bracketed(value.toExponential())
        : undefined;
    case "binary":
      return value instanceof Uint8Array ? `X'${Buffer.from(value).toString("hex")}'` : undefined;
    case "text":
    case "json":
    case "uuid":
    case "date":
    case "time":
    case "timestamp":
      return quoteText(textOf({ type, value }));
    case "interval":
    case "list":
    case "struct":
    case "map":
      return undefined;
  }
}

function bracketed(number: string): string {
  return number.startsWith("-") ? `(${number})` : number;
}

function textOf({ type, value }: Parameter): string {
  const [vector] = batchOf([columnOf("p", type)], [[value]]).columns;
  if (vector === undefined) throw new Error("a batch without its column");
  const writer = cellWriter(vector, mysqlText);
  const bytes = new Uint8Array(writer.bound(0));
  return new TextDecoder().decode(bytes.subarray(0, writer.write(bytes, 0, 0)));
}
