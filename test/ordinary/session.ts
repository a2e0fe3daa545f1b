/** Everything that a comparison needs: a gateway, a connection of each protocol, and the engine by itself. */
import { configOf, gatewayOf } from "../e2e/gateway.ts";
import { compare, type Compared } from "./compare.ts";
import { directOf } from "./direct.ts";
import { tableStatements } from "./tables.ts";
import { wires } from "./wires.ts";

/** Compares so many queries from a seed of today's chance, or from the one that `ORDINARY_SEED` names. */
export async function compareOrdinary(queries: number): Promise<Compared> {
  const named = Number(process.env["ORDINARY_SEED"] ?? Number.NaN);
  const first = Number.isSafeInteger(named) ? named : Math.floor(Math.random() * 1e9);
  await using gateway = await gatewayOf(
    configOf({ clusters: { local: { engine: "duckDb", threads: 1 } } }),
  );
  const open = await Promise.all(wires.map((openWire) => openWire(gateway)));
  for (const sql of tableStatements) await open[0]?.ask(sql);
  const direct = await directOf(tableStatements);
  try {
    const compared = await compare(direct, open, { first, count: queries });
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
