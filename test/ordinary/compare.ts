/** Asks every wire and the engine itself, and counts the answers that are not the same. */
import type { Direct, DirectAnswer } from "./direct.ts";
import type { Cell } from "./expected/forms.ts";
import type { Wire } from "./wires.ts";

export interface Compared {
  readonly answers: number;
  readonly rows: number;
  /** One text each: the query's name, the wire, the query and the first row that differs. */
  readonly differences: readonly string[];
  /** How many results had a column of the type, by the engine's name, and how many so many rows. */
  readonly types: ReadonlyMap<string, number>;
  readonly sizes: ReadonlyMap<number, number>;
}

export interface Asked {
  readonly name: string;
  readonly sql: string;
}

type Row = readonly Cell[];

/** So many answers of the engine itself are kept at a time, until every wire was compared with them. */
const together = 200;

/** Compares queries, each over all wires; the wires go through some dozens of them each at its own pace. */
export async function compare(
  direct: Direct,
  open: readonly Wire[],
  queries: Iterable<Asked>,
): Promise<Compared> {
  const differences: string[] = [];
  const types = new Map<string, number>();
  const sizes = new Map<number, number>();
  let answers = 0;
  let rows = 0;
  for (const group of groupsOf(queries, together)) {
    const expected = answersOf(direct, group);
    const compareOne = async (wire: Wire): Promise<void> => {
      for (const [index, query] of group.entries()) {
        const answer = await wire.ask(query.sql);
        const wanted = (await expected[index])?.rows(wire.form) ?? [];
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
    for (const wanted of await Promise.all(expected)) {
      rows += wanted.count;
      count(sizes, wanted.count);
      for (const type of new Set(wanted.types)) count(types, type);
    }
  }
  return { answers, rows, differences, types, sizes };
}

function count<T>(counts: Map<T, number>, thing: T): void {
  counts.set(thing, (counts.get(thing) ?? 0) + 1);
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
function answersOf(direct: Direct, group: readonly Asked[]): readonly Promise<DirectAnswer>[] {
  let before: Promise<unknown> = Promise.resolve();
  return group.map(({ sql }) => {
    const answer = before.then(() => direct.answer(sql));
    before = answer;
    return answer;
  });
}

/** Most often rows come in one order; where they do not, threads of the engine decided it. */
function differenceOf(wanted: readonly Row[], found: readonly Row[]): string | undefined {
  if (wanted.length !== found.length) return `${found.length} rows, not ${wanted.length}`;
  if (wanted.every((row, index) => sameRow(row, found[index]))) return undefined;
  return firstDifference(sorted(wanted), sorted(found));
}

function sameRow(wanted: Row, found: Row | undefined): boolean {
  if (found?.length !== wanted.length) return false;
  return wanted.every((cell, index) => cell === found[index]);
}

function sorted(rows: readonly Row[]): readonly Row[] {
  const texts = rows.map((row): readonly [string, Row] => [JSON.stringify(row), row]);
  return texts.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}

function firstDifference(wanted: readonly Row[], found: readonly Row[]): string | undefined {
  for (const [index, row] of wanted.entries()) {
    const other = found[index] ?? [];
    const at = row.findIndex((cell, column) => cell !== other[column]);
    if (at >= 0 || row.length !== other.length)
      return `column ${at + 1} is ${shown(other[at])}, not ${shown(row[at])}`;
  }
  return undefined;
}

/** From the end: long texts begin alike. */
function shown(cell: Cell | undefined): string {
  return JSON.stringify(cell ?? null).slice(-300);
}
