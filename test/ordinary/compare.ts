/** Asks every wire and the engine itself, and counts the answers that are not the same. */
import type { Direct } from "./direct.ts";
import type { Ordinary } from "./generate.ts";
import type { Cell, Wire } from "./wires.ts";

export interface Compared {
  readonly answers: number;
  readonly rows: number;
  /** One text each: the query's name, the wire, the query and the first row that differs. */
  readonly differences: readonly string[];
}

export interface Asked extends Ordinary {
  readonly name: string;
}

type Row = readonly Cell[];

/** So many answers of the engine itself are kept at a time, until every wire was compared with them. */
const together = 50;

/** Compares queries, each over all wires; the wires go through some dozens of them each at its own pace. */
export async function compare(
  direct: Direct,
  open: readonly Wire[],
  queries: Iterable<Asked>,
): Promise<Compared> {
  const differences: string[] = [];
  let answers = 0;
  let rows = 0;
  for (const group of groupsOf(queries, together)) {
    const expected = answersOf(direct, group);
    const compareOne = async (wire: Wire): Promise<void> => {
      for (const [index, query] of group.entries()) {
        const answer = await wire.ask(query.sql, query.kinds);
        const wanted = (await expected[index]) ?? [];
        const difference =
          answer.kind === "refused"
            ? `refused with ${answer.code}`
            : differenceOf(wanted, answer.rows);
        answers += 1;
        if (difference === undefined) continue;
        differences.push(
          `${query.name}, ${wire.name}: ${difference}\n${query.sql.slice(0, 2_000)}`,
        );
      }
    };
    await Promise.all(open.map(compareOne));
    for (const wanted of expected) rows += (await wanted).length;
  }
  return { answers, rows, differences };
}

function* groupsOf<T>(things: Iterable<T>, size: number): Generator<readonly T[]> {
  let group: T[] = [];
  for (const thing of things) {
    group.push(thing);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** One after another, while the wires already ask. */
function answersOf(direct: Direct, group: readonly Ordinary[]): readonly Promise<readonly Row[]>[] {
  let before: Promise<unknown> = Promise.resolve();
  return group.map((query) => {
    const rows = before.then(() => direct.rows(query));
    before = rows;
    return rows;
  });
}

/** Most often rows come in one order; where they do not, threads of the engine decided it. */
function differenceOf(wanted: readonly Row[], found: readonly Row[]): string | undefined {
  if (wanted.length !== found.length) return `${found.length} rows, not ${wanted.length}`;
  if (wanted.every((row, index) => sameRow(row, found[index]))) return undefined;
  return firstDifference(sortedTexts(wanted), sortedTexts(found));
}

function sameRow(wanted: Row, found: Row | undefined): boolean {
  if (found?.length !== wanted.length) return false;
  return wanted.every((cell, index) => cell === found[index]);
}

function sortedTexts(rows: readonly Row[]): readonly string[] {
  return rows.map((row) => JSON.stringify(row)).toSorted();
}

function firstDifference(wanted: readonly string[], found: readonly string[]): string | undefined {
  const at = wanted.findIndex((row, index) => row !== found[index]);
  return at < 0 ? undefined : `${found[at]?.slice(0, 300)}, not ${wanted[at]?.slice(0, 300)}`;
}
