/** What the generator says that it draws is drawn: shapes, columns of each type, filters of each selectivity. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { directOf, type Direct } from "./direct.ts";
import { ordinaryFilter, ordinaryQuery, shapeOf, shapeNames } from "./generate.ts";
import { stored, tables, tableStatements } from "./tables.ts";

const seeds = Array.from({ length: 2_000 }, (_, index) => index);
const queries = seeds.map(ordinaryQuery);

describe("ordinaryQuery", () => {
  it("draws every shape", () => {
    const drawn = new Set(seeds.map(shapeOf));
    expect(shapeNames.filter((name) => !drawn.has(name))).toEqual([]);
  });

  it("asks every table, and shows every column plain and inside of other values", () => {
    const text = queries.join("\n");
    const asked = [...tables.map(({ name }) => name), "events"];
    expect(
      asked.filter((name) => !text.includes(` ${name} `) && !text.includes(` ${name}\n`)),
    ).toEqual([]);
    expect(stored.filter((name) => !text.includes(`x.${name} as `))).toEqual([]);
    expect(/\[x\.\w+, null\] as /.test(text) && /\{'v': x\.\w+/.test(text)).toBe(true);
    expect(text).toMatch(/map \{coalesce\(x\.id, -1\): x\.\w+\} as /);
  });

  it("is the same for the same seed", () => {
    expect(seeds.slice(0, 100).map(ordinaryQuery)).toEqual(queries.slice(0, 100));
  });
});

describe("ordinaryFilter", () => {
  let direct: Direct;
  beforeAll(async () => {
    direct = await directOf(tableStatements);
  });
  afterAll(() => direct.close());

  it("takes no row, a few, many and all", async () => {
    const rows = 2_049;
    const counted = seeds
      .slice(0, 150)
      .map((seed) => `select count(*) from t${rows} x where ${ordinaryFilter(seed)}`);
    const answer = await direct.answer(counted.join(" union all "));
    const shares = answer.rows("postgres").map(([count]) => Number(count) / rows);
    const within = (low: number, high: number): number =>
      shares.filter((share) => share > low && share < high).length;
    expect(shares).toContain(0);
    expect(within(0, 0.002)).toBeGreaterThan(0);
    expect(within(0.002, 0.1)).toBeGreaterThan(0);
    expect(within(0.1, 0.6)).toBeGreaterThan(0);
    expect(within(0.6, 1)).toBeGreaterThan(0);
    expect(shares).toContain(1);
  });
});
