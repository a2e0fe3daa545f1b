/**
 * Each Parquet, CSV or JSON file of a folder as a view, named after the file.
 *
 * Only the folder itself is looked at, once, when the database is opened. A file that can not be read
 * is left out and named in the log; the others are served.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { SetupStatement } from "../../native/message.ts";
import { quoteIdentifier, quoteText } from "../sql/quote.ts";

/** Readers by the end of a file's name, longest first. */
const readers: readonly (readonly [ending: string, reader: string])[] = [
  [".csv.gz", "read_csv"],
  [".tsv.gz", "read_csv"],
  [".json.gz", "read_json"],
  [".ndjson.gz", "read_json"],
  [".jsonl.gz", "read_json"],
  [".parquet", "read_parquet"],
  [".ndjson", "read_json"],
  [".jsonl", "read_json"],
  [".json", "read_json"],
  [".csv", "read_csv"],
  [".tsv", "read_csv"],
];

/** One statement a file, labelled with the file's name. Rejects when the folder can not be read. */
export async function folderStatements(folder: string): Promise<readonly SetupStatement[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith("."))
    .map(({ name }) => name)
    .toSorted();
  const taken = new Set<string>();
  const statements: SetupStatement[] = [];
  for (const file of files) {
    const found = readers.find(([ending]) => file.toLowerCase().endsWith(ending));
    if (found === undefined) continue;
    const [ending, reader] = found;
    const view = freeName(file.slice(0, -ending.length), ending, taken);
    const source = `${reader}(${quoteText(globless(join(folder, file)))})`;
    statements.push({
      sql: `CREATE OR REPLACE VIEW ${quoteIdentifier(view)} AS SELECT * FROM ${source}`,
      label: file,
    });
  }
  return statements;
}

/** A name that can be written without quotes and that no other file has. DuckDB does not tell names apart by case. */
function freeName(stem: string, ending: string, taken: Set<string>): string {
  const plain = stem.toLowerCase().replace(/[^\p{L}\p{N}_]+/gu, "_");
  const name = /^[\p{N}]/u.test(plain) || plain === "" ? `_${plain}` : plain;
  const candidates = [name, `${name}${ending.replaceAll(".", "_")}`];
  const free = candidates.find((candidate) => !taken.has(candidate)) ?? `${name}_${taken.size}`;
  taken.add(free);
  return free;
}

/** The path as a pattern that matches itself only. */
function globless(path: string): string {
  return path.replace(/[*?[\]]/g, (char) => `[${char}]`);
}
