/** Thousands of ordinary queries over five ways to bring rows, each answered as by the engine itself. */
import { expect, it } from "vitest";
import { compareOrdinary } from "./session.ts";
import { wires } from "./wires.ts";

/** Five answers of each; the nightly run has a million of them. `npm test` asks a part of them. */
const nightly = process.env["GATEWAY_NIGHTLY"] === "1" ? 200_000 : 2_000;
const queries = Number(process.env["ORDINARY_QUERIES"] ?? nightly);
/** Most of a run of that many; what hangs is ended by it. */
const perQueryMs = 1_000;

/** Rows of results around a block of arrays and a vector. */
const borders = [0, 1, 63, 64, 65, 2_047, 2_048, 2_049, 5_000];

/** Every type of the engine that a client can see, but for the ones of extensions. */
const typesOfEngine = `
  BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT BIGNUM
  FLOAT DOUBLE DECIMAL VARCHAR ENUM BLOB BIT UUID JSON DATE TIME TIME_TZ TIMESTAMP TIMESTAMP_S TIMESTAMP_MS
  TIMESTAMP_NS TIMESTAMP_TZ INTERVAL LIST ARRAY STRUCT MAP UNION`.match(/\w+/g);

it(
  "answers ordinary queries over every wire as the engine does",
  async () => {
    const { answers, differences, types, sizes } = await compareOrdinary(queries);
    expect(differences.slice(0, 5)).toEqual([]);
    expect(answers).toBe(queries * wires.length);
    // A short run, to look into something, need not have all of them.
    if (queries < 2_000) return;
    expect(borders.filter((size) => !sizes.has(size))).toEqual([]);
    expect(typesOfEngine?.filter((type) => !types.has(type))).toEqual([]);
  },
  queries * perQueryMs,
);
