/** A folder of files as tables: each Parquet, CSV and JSON file becomes a view that reads it in place. */
import { readdirSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { quoteIdentifier, quoteText } from "./quote.ts";

const readers: Readonly<Record<string, string>> = {
  ".parquet": "read_parquet",
  ".csv": "read_csv",
  ".tsv": "read_csv",
  ".json": "read_json",
  ".jsonl": "read_json",
  ".ndjson": "read_json",
};

/** One file that is served. */
export interface ServedFile {
  readonly table: string;
  readonly path: string;
}

/** The files of a folder by table name: the file's name without its ending, in lower case; a repeated name gets the ending too. */
export function servedFiles(folder: string): readonly ServedFile[] {
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && readers[endingOf(entry.name)] !== undefined)
    .map((entry) => entry.name)
    .toSorted();
  const taken = new Set<string>();
  return files.map((name) => {
    const short = tableName(basename(name, extname(name)));
    const table = taken.has(short) ? tableName(name) : short;
    taken.add(table);
    return { table, path: join(folder, name) };
  });
}

/** Statements that make the views, in order. */
export function folderStatements(files: readonly ServedFile[]): readonly string[] {
  return files.map(({ table, path }) => {
    const reader = readers[endingOf(path)] ?? "read_csv";
    return `create view ${quoteIdentifier(table)} as select * from ${reader}(${quoteText(path)})`;
  });
}

function endingOf(name: string): string {
  return extname(name).toLowerCase();
}

/** A name that needs no quotes in any client: letters, digits and underscores. */
function tableName(text: string): string {
  const name = text.toLowerCase().replaceAll(/[^\p{L}\p{N}_]+/gu, "_");
  return /^\p{N}/u.test(name) ? `_${name}` : name;
}
