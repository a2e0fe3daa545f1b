/** Everything that a comparison needs: a gateway, a connection of each protocol, and the engine by itself. */
import { compare, type Asked, type Compared } from "./compare.ts";
import { directOf } from "./direct.ts";
import { ordinaryQuery } from "./generate.ts";
import { programOf } from "./program.ts";
import { tableStatements } from "./tables.ts";
import { wires } from "./wires.ts";

/** Compares so many queries from a seed of today's chance, or from the one that `ORDINARY_SEED` names. */
export async function compareOrdinary(queries: number): Promise<Compared> {
  const first = firstSeed();
  await using gateway = await programOf();
  const open = await Promise.all(wires.map((openWire) => openWire(gateway)));
  for (const sql of tableStatements) {
    const answer = await open[0]?.ask(sql);
    if (answer?.kind !== "rows") throw new Error(`no table: ${answer?.code}, ${sql}`);
  }
  const direct = await directOf(tableStatements);
  try {
    const compared = await compare(direct, open, ordinaryQueries(first, queries));
    const { answers, rows, differences } = compared;
    process.stdout.write(
      `${answers} answers with ${rows} rows compared, ${differences.length} differences, from seed ${first} on\n`,
    );
    return compared;
  } finally {
    await Promise.all(open.map((wire) => wire.close()));
    direct.close();
  }
}

export function firstSeed(): number {
  const named = Number(process.env["ORDINARY_SEED"] ?? Number.NaN);
  return Number.isSafeInteger(named) ? named : Math.floor(Math.random() * 1e9);
}

/** One after another from a seed on. */
export function* ordinaryQueries(first: number, count: number): Generator<Asked> {
  for (let seed = first; seed < first + count; seed += 1) {
    yield { sql: ordinaryQuery(seed), name: `seed ${seed}` };
  }
}
