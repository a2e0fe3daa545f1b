import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { castTypes } from "./casts.ts";

describe("castTypes", () => {
  it.each<[string, readonly (readonly [number, number])[]]>([
    ["select $1::int", [[1, 23]]],
    ["select $1 :: int [ ]", [[1, 1007]]],
    ["select $2::int4[], $1", [[2, 1007]]],
    [
      "select cast($1 as json), CAST( $2 AS text )",
      [
        [1, 114],
        [2, 25],
      ],
    ],
    [
      "select $1::double precision, $2::character varying(10)",
      [
        [1, 701],
        [2, 1043],
      ],
    ],
    [
      "select $1::numeric(12, 2), $2::decimal(5)[]",
      [
        [1, 1700],
        [2, 1231],
      ],
    ],
    [
      "select $1::timestamp with time zone, $2::timestamp(3) without time zone",
      [
        [1, 1184],
        [2, 1114],
      ],
    ],
    ["select $1::timestamp with time zone[]", [[1, 1185]]],
    ["select $1::text, $1::int", [[1, 25]]],
    ["select '$1::int', \"$2::int\" -- $3::int", []],
    ["select ($1)::int, $1 + 1::int, f($2::int)", [[2, 23]]],
    ["select $1::my_type, $3::schema.type", []],
    [
      "select $1::time with time zone, $2::timetz",
      [
        [1, 1266],
        [2, 1266],
      ],
    ],
    ["select cast(x as int), $1", []],
    ["select $1::", []],
    ["select $1", []],
    ["cast", []],
  ])("finds in %s what is cast", (sql, expected) => {
    expect([...castTypes(sql)]).toEqual(expected);
  });

  it("never throws, whatever the text is", () => {
    const pieces = fc.constantFrom(
      "$1",
      "::",
      "int",
      "[",
      "]",
      "cast",
      "(",
      "as",
      ")",
      "with",
      "'",
      " ",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        for (const [number] of castTypes(parts.join(" "))) expect(number).toBe(1);
      }),
    );
  });
});
