/** Asks every wire and the engine itself, and counts the answers that are not the same. */
import { ordinaryQuery } from "./generate.ts";
import type { Direct } from "./direct.ts";
import type { Cell, Wire } from "./wires.ts";

export interface Compared {
  readonly answers: number;
  readonly rows: number;
  /** One text each: the seed, the wire, the query and the first row that differs. */
  readonly differences: readonly string[];
}

/** Compares the queries of seeds from `first` on, each over all wires. */
export async function compare(
  direct: Direct,
  open: readonly Wire[],
  { first, count }: { readonly first: number; readonly count: number },
): Promise<Compared> {
  let answers = 0;
  let rows = 0;
  const differences: string[] = [];
  for (let seed = first; seed < first + count; seed += 1) {
    const query = ordinaryQuery(seed);
    const expected = sortedTexts(await direct.rows(query));
    rows += expected.length;
    const found = await Promise.all(
      open.map(async (wire) => ({ wire, answer: await wire.ask(query.sql, query.kinds) })),
    );
    for (const { wire, answer } of found) {
      answers += 1;
      const difference =
        answer.kind === "refused"
          ? `refused with ${answer.code}`
          : firstDifference(expected, sortedTexts(answer.rows));
      if (difference === undefined) continue;
      differences.push(`seed ${seed}, ${wire.name}: ${difference}\n${query.sql.slice(0, 2_000)}`);
    }
  }
  return { answers, rows, differences };
}

/** Rows in an order of our own: threads of the engine decide the order of theirs. */
function sortedTexts(rows: readonly (readonly Cell[])[]): readonly string[] {
  return rows.map((row) => JSON.stringify(row)).toSorted();
}

function firstDifference(
  expected: readonly string[],
  found: readonly string[],
): string | undefined {
  if (expected.length !== found.length) return `${found.length} rows, not ${expected.length}`;
  const at = expected.findIndex((row, index) => row !== found[index]);
  return at < 0 ? undefined : `${found[at]?.slice(0, 300)}, not ${expected[at]?.slice(0, 300)}`;
}
