/** Reads one statement for a policy: what it does, and which tables it names where. */
import type {
  SqlAction,
  SqlReading,
  TableReference,
  UnderstoodSql,
} from "@gateway/core/port/sql/sqlReading.ts";
import {
  createParts,
  deleteParts,
  dropParts,
  insertParts,
  truncateParts,
  updateParts,
} from "./kinds.ts";
import { columnsOf } from "./columns.ts";
import { isEmpty, NodeReader, NotUnderstood, onlyParts, type Fields } from "./reader.ts";

export interface ReadOptions {
  readonly sql: string;
  /** Functions that the configuration adds, in lower case. */
  readonly functions: readonly string[];
  readonly columns: boolean;
}

/** `nodes`: what the parser made of the text, or undefined. */
export function readNodesOf(
  nodes: readonly unknown[] | undefined,
  { sql, functions, columns }: ReadOptions,
): SqlReading {
  if (nodes === undefined) return { understood: false, reason: "its grammar" };
  const [node] = nodes;
  if (nodes.length !== 1) return { understood: false, reason: "more than one statement" };
  try {
    const reader = new NodeReader(new Set(functions), offsetsOf(sql));
    const { action, looksAtTarget } = statement(node as Fields, reader);
    const { parts } = reader;
    const tables = columns ? withColumns(node as Fields, reader) : reader.tables;
    return { understood: true, action, looksAtTarget, tables, parts: [...parts] };
  } catch (error) {
    if (error instanceof NotUnderstood) return { understood: false, reason: error.message };
    throw error;
  }
}

function withColumns(node: Fields, { tables, places }: NodeReader): readonly TableReference[] {
  const columns = columnsOf(node, places);
  return tables.map((table, index) => ({ ...table, columns: columns[index] }));
}

type Done = Pick<UnderstoodSql, "looksAtTarget"> & { readonly action: SqlAction };

const queries: ReadonlySet<string> = new Set([
  "select",
  "union",
  "intersect",
  "except",
  "subquery",
  "paren",
  "values",
]);

const writers: Readonly<Record<string, (fields: Fields, reader: NodeReader) => Done>> = {
  insert: inserted,
  update: updated,
  delete: deleted,
  create_table: created,
  drop_table: (fields, reader) => {
    onlyParts(fields, dropParts, "a kind of DROP");
    for (const name of fields["names"] as unknown[]) reader.table(name, true);
    return { action: "ddl", looksAtTarget: false };
  },
  truncate: (fields, reader) => {
    onlyParts(fields, truncateParts, "a kind of TRUNCATE");
    reader.table(fields["table"], true);
    return { action: "ddl", looksAtTarget: false };
  },
};

function statement(node: Fields, reader: NodeReader): Done {
  const [kind = ""] = Object.keys(node);
  if (queries.has(kind)) {
    reader.visit(node);
    return { action: "select", looksAtTarget: false };
  }
  const write = Object.hasOwn(writers, kind) ? writers[kind] : undefined;
  if (write === undefined) throw new NotUnderstood(`a statement: ${kind.replaceAll("_", " ")}`);
  return write(node[kind] as Fields, reader);
}

function inserted(fields: Fields, reader: NodeReader): Done {
  onlyParts(fields, insertParts, "a kind of INSERT");
  reader.table(fields["table"], true);
  reader.within(fields["with"], () => {
    for (const key of ["values", "query", "returning"]) reader.visit(fields[key]);
  });
  return { action: "insert", looksAtTarget: !isEmpty(fields["returning"]) };
}

function updated(fields: Fields, reader: NodeReader): Done {
  onlyParts(fields, updateParts, "a kind of UPDATE");
  reader.table(fields["table"], true);
  if (!isEmpty(fields["extra_tables"]) || !isEmpty(fields["table_joins"])) {
    throw new NotUnderstood("an UPDATE of several tables");
  }
  reader.within(fields["with"], () => {
    // Each is a name and a value.
    for (const pair of fields["set"] as unknown[][]) reader.visit(pair[1]);
    for (const key of ["from_clause", "from_joins", "where_clause", "returning"]) {
      reader.visit(fields[key]);
    }
  });
  return { action: "update", looksAtTarget: true };
}

function deleted(fields: Fields, reader: NodeReader): Done {
  onlyParts(fields, deleteParts, "a kind of DELETE");
  reader.table(fields["table"], true);
  reader.within(fields["with"], () => {
    for (const key of ["using", "where_clause", "returning"]) reader.visit(fields[key]);
  });
  return { action: "delete", looksAtTarget: true };
}

function created(fields: Fields, reader: NodeReader): Done {
  const { columns } = fields;
  // Types and nothing else: a default or a constraint may name functions and other tables.
  for (const column of Array.isArray(columns) ? (columns as Fields[]) : []) {
    onlyParts(column, columnParts, "a column with");
  }
  onlyParts({ ...fields, columns: undefined }, createParts, "a kind of CREATE TABLE");
  reader.table(fields["name"], true);
  reader.within(fields["with_cte"], () => reader.visit(fields["as_select"]));
  return { action: "ddl", looksAtTarget: false };
}

const columnParts: ReadonlySet<string> = new Set([
  "name",
  "data_type",
  "nullable",
  "constraint_order",
  "leading_comments",
  "trailing_comments",
]);

/** The parser counts Unicode characters. */
function offsetsOf(sql: string): (character: number) => number {
  if (!/[\uD800-\uDFFF]/.test(sql)) return (character) => character;
  const units: number[] = [];
  let at = 0;
  for (const character of sql) {
    units.push(at);
    at += character.length;
  }
  units.push(at);
  return (character) => units[character] ?? -1;
}
