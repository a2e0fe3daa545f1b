/** The `columns` of a page as neutral columns. */
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { textOfSpan, type ClientPage } from "@gateway/wire/trino/clientPage.ts";
import { typeOfName } from "../types.ts";

/** More columns than Trino plans. */
const columnsMax = 10_000;

/**
 * The columns a page lists; undefined when it lists none, or no list of columns. The same text gives the
 * same objects.
 */
export function columnsOf(page: ClientPage, bytes: Uint8Array): readonly Column[] | undefined {
  return page.columns === undefined ? undefined : columnsIn(textOfSpan(bytes, page.columns));
}

/** A statement that is sent again is answered with the same text. */
const columnsIn = remembered(readColumns, { textsMax: 128, lengthMax: 4_096 });

function readColumns(text: string): readonly Column[] | undefined {
  const listed = parsed(text);
  if (!Array.isArray(listed) || listed.length > columnsMax) return undefined;
  const columns: Column[] = [];
  for (const one of listed as readonly unknown[]) {
    const column = columnOf(one);
    if (column === undefined) return undefined;
    columns.push(column);
  }
  return columns;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function columnOf(listed: unknown): Column | undefined {
  if (typeof listed !== "object" || listed === null) return undefined;
  if (!("name" in listed) || !("type" in listed)) return undefined;
  const { name, type } = listed;
  if (typeof name !== "string" || typeof type !== "string") return undefined;
  return { name, type: typeOfName(type), nullable: true, engineType: type };
}

/** True for the one column in which Trino says how many rows a change touched, or that it was done. */
export function isOutcome(columns: readonly Column[]): boolean {
  const [only] = columns;
  if (columns.length !== 1 || only === undefined) return false;
  if (only.name === "rows") return only.type.kind === "integer";
  return only.name === "result" && only.type.kind === "boolean";
}
