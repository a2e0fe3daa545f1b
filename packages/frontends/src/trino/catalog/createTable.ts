/** `SHOW CREATE TABLE` for engines that do not know it: the text is made of the columns that a query would show. */
import { gatewayError } from "@gateway/core/error.ts";
import type { Door } from "@gateway/core/port/door.ts";
import type { Session } from "@gateway/core/query/query.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { described, failure, textColumn, type Handling } from "../read/handling.ts";
import { displayName } from "../value/types.ts";

/** The statement that would make a table with these columns. `parts` is its name as the client gave it. */
export function showCreateTable(
  parts: readonly string[],
  session: Session,
  door: Pick<Door, "describe">,
): Handling {
  if (parts.length > 3) return failure(gatewayError("query.syntax"));
  const outer = [session.catalog, session.schema].slice(0, 3 - parts.length);
  const whole = [...outer.filter((part) => part !== undefined), ...parts];
  const table = {
    columns: [textColumn("Create Table")],
    rows: ({ columns }: { readonly columns: readonly Column[] }) => [[createText(whole, columns)]],
  };
  return described(`SELECT * FROM ${parts.map(quoted).join(".")}`, table, door);
}

function createText(name: readonly string[], columns: readonly Column[]): string {
  const lines = columns.map(
    ({ name: column, type, nullable }) =>
      `   ${plain(column)} ${displayName(type)}${nullable ? "" : " NOT NULL"}`,
  );
  return `CREATE TABLE ${name.map(plain).join(".")} (\n${lines.join(",\n")}\n)`;
}

/** A name without quotes where it needs none. */
function plain(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : quoted(name);
}

/** A name in quotes. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
