/**
 * What clients ask a ClickHouse server about itself before they begin. Answered here where a statement would go to an
 * engine that does not know these words; a ClickHouse cluster answers for itself.
 */
import { columnOf } from "@gateway/core/type/build.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import { shownVersion } from "@gateway/wire/clickhouse/exception.ts";
import { knownSettings } from "../session/settings.ts";
import { textColumn, type LocalAnswer } from "./answer.ts";

/** Of the session that asks. */
export interface Asker {
  readonly user: string;
  readonly database: string;
}

/** No question is longer. */
const lengthMax = 500;

/** The answer to a question about the server; undefined for every other text. */
export function serverAnswer(sql: string, asker: Asker): LocalAnswer | undefined {
  if (sql.length > lengthMax) return undefined;
  const text = sql.trim().replace(/\s*;$/, "").replaceAll(/\s+/g, " ");
  const selected = /^SELECT ([\w(), ]+?)(?: FROM (system\.settings)(?: LIMIT \d{1,9})?)?$/i.exec(
    text,
  );
  if (selected === null) return undefined;
  const items = (selected[1] ?? "").split(",").map((item) => item.trim());
  return selected[2] === undefined ? functionsOf(items, asker) : settingsOf(items);
}

type Answered = (asker: Asker) => string;

const functions: ReadonlyMap<string, Answered> = new Map<string, Answered>([
  ["version()", () => shownVersion],
  ["timezone()", () => "UTC"],
  ["servertimezone()", () => "UTC"],
  ["currentuser()", ({ user }) => user],
  ["user()", ({ user }) => user],
  ["currentdatabase()", ({ database }) => database],
  ["hostname()", () => "gateway"],
]);

/** All of them, or nothing: an engine may know one of the others. */
function functionsOf(items: readonly string[], asker: Asker): LocalAnswer | undefined {
  const values: string[] = [];
  for (const item of items) {
    const answered = functions.get(item.toLowerCase());
    if (answered === undefined) return undefined;
    values.push(answered(asker));
  }
  return { columns: items.map(textColumn), rows: [values] };
}

type Cell = (name: string) => Value;

const settingColumns: ReadonlyMap<string, readonly [Column["type"], Cell]> = new Map<
  string,
  readonly [Column["type"], Cell]
>([
  ["name", [{ kind: "text" }, (name) => name]],
  ["value", [{ kind: "text" }, () => "0"]],
  ["default", [{ kind: "text" }, () => "0"]],
  ["type", [{ kind: "text" }, () => "String"]],
  ["readonly", [{ kind: "integer", bits: 8, signed: false }, () => 0n]],
  ["changed", [{ kind: "integer", bits: 8, signed: false }, () => 0n]],
]);

function settingsOf(items: readonly string[]): LocalAnswer | undefined {
  const columns: Column[] = [];
  const cells: Cell[] = [];
  for (const item of items) {
    const [name = "", alias = name] = item.split(/ AS /i);
    const found = settingColumns.get(name.toLowerCase());
    if (found === undefined) return undefined;
    columns.push(columnOf(alias, found[0], false));
    cells.push(found[1]);
  }
  return { columns, rows: knownSettings.map((name) => cells.map((cell) => cell(name))) };
}
