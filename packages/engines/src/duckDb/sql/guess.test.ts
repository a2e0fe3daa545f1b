import type { Backend } from "@gateway/core/port/backend.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hostOf, identifiedOf, never, ran, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { duckDbConfig } from "../config.ts";
import { engineTypeOf } from "../types.ts";

let backend: Backend;
beforeAll(async () => {
  const config = duckDbConfig.parse({ engine: "duckDb", threads: 1 });
  backend = valueOf(await open("guess", config, hostOf()));
  await ran(
    backend,
    "create table t (i bigint, n integer, price decimal(10,2), ts timestamp, s text)",
  );
});
afterAll(() => backend[Symbol.asyncDispose]());

/** What PostgreSQL would say too, as far as it has the operator; parameters first, then columns. */
const guesses: readonly (readonly [sql: string, parameters: string, columns: string])[] = [
  ["select $1 + 1", "INTEGER", "INTEGER"],
  ["select $1 + 1.5", "DECIMAL(18,3)", "DECIMAL(18,3)"],
  ["select i + $1 from t", "BIGINT", "BIGINT"],
  ["select n * $1 from t", "INTEGER", "INTEGER"],
  ["select price * $1 from t", "DECIMAL(18,3)", "DECIMAL(18,5)"],
  ["select i from t where i + $1 > 3", "DECIMAL(18,3)", "BIGINT"],
  ["select now() - $1", "INTERVAL", "TIMESTAMP WITH TIME ZONE"],
  ["select i from t where ts > now()::timestamp - $1", "INTERVAL", "BIGINT"],
  ["select date '2024-02-29' + $1", "INTEGER", "DATE"],
  ["select date_trunc('day', $1)", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITH TIME ZONE"],
  ["select i from t where i = any($1)", "BIGINT[]", "BIGINT"],
  ["select i from t where s = any($1)", "VARCHAR[]", "BIGINT"],
  ["select unnest($1)", "VARCHAR[]", "VARCHAR"],
  ["select $1 || s, n + $2 from t", "VARCHAR,INTEGER", "VARCHAR,INTEGER"],
  ["select round($1, 2)", "DECIMAL(18,3)", "DECIMAL(18,2)"],
  ["select trunc( $1 , 2)", "DECIMAL(18,3)", "DECIMAL(18,2)"],
  ["select round($1, $2)", "DOUBLE,INTEGER", "DOUBLE"],
  [
    "select i from t where round(?, 1) > price and n + ? > 1",
    "DECIMAL(18,3),DECIMAL(18,3)",
    "BIGINT",
  ],
  ["select Round($1), abs($1)", "DOUBLE", "DOUBLE,DOUBLE"],
  ["select sign($1)", "DOUBLE", "TINYINT"],
  ["select round(n + $1, 2) from t", "INTEGER", "INTEGER"],
  ["select * from range($1)", "BIGINT", "BIGINT"],
  ["select * from range($1::integer)", "BIGINT", "BIGINT"],
  ["select $1 || 'x'", '"NULL"', "VARCHAR"],
];

describe("a description of a statement whose parameters nobody can tell", () => {
  it.each(guesses)("%s takes %s and gives %s", async (sql, parameters, columns) => {
    const found = valueOf(await backend.describe(identifiedOf(sql), never));
    expect(found.parameters.map((type) => engineTypeOf(type)).join()).toBe(parameters);
    expect(found.columns.map(({ type }) => engineTypeOf(type)).join()).toBe(columns);
  });

  it("keeps to what the client said", async () => {
    const stated = [{ type: { kind: "float", bits: 64 }, value: null }] as const;
    const query = identifiedOf("select $1 + n, $2 + n from t", stated);
    const { parameters } = valueOf(await backend.describe(query, never));
    expect(parameters.map((type) => engineTypeOf(type))).toEqual(["DOUBLE", "INTEGER"]);
  });

  it("is refused in the engine's words where no type makes sense", async () => {
    for (const [sql, code] of [
      ["select nothing($1)", "query.unknownObject"],
      ["select $1 + [1]::integer[][] - i from nowhere", "query.unknownObject"],
      [
        `select ${Array.from({ length: 9 }, (_, index) => `$${index + 1} + n`).join()} from t`,
        "query.unknownObject",
      ],
    ] as const) {
      expect(await backend.describe(identifiedOf(sql), never)).toMatchObject({
        ok: false,
        error: { code },
      });
    }
  });
});
