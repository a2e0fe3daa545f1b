import { errorCatalogue } from "@gateway/contract/error.ts";
import type { Backend } from "@gateway/core/port/backend.ts";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FailureCode } from "../native/driver.ts";
import { hostOf, ran, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { duckDbConfig } from "./config.ts";
import { readFailure, unitAt } from "./library/failure.ts";
import { errorOf } from "./errors.ts";

let backend: Backend;
beforeAll(async () => {
  const config = duckDbConfig.parse({ engine: "duckDb", threads: 1 });
  backend = valueOf(await open("errors", config, hostOf()));
  await ran(
    backend,
    "create table t (id integer primary key, label varchar not null check (label <> 'q'))",
  );
  await ran(backend, "insert into t values (1, 'one')");
  await ran(backend, "create table other (t integer references t (id))");
  await ran(backend, "insert into other values (1)");
  await ran(backend, "create table twice as select 1 as a union all select 1");
});
afterAll(() => backend[Symbol.asyncDispose]());

/** Statement, code, SQLSTATE, and where in the text, if anywhere. */
const failures: readonly (readonly [
  sql: string,
  code: string,
  sqlState: string,
  position?: number,
])[] = [
  ["select 1 +", "query.syntax", "42601", 11],
  ["selec 1", "query.syntax", "42601", 1],
  ["select * from nowhere", "query.unknownObject", "42P01", 15],
  ["select 'é😀', missing from t", "query.unknownObject", "42703", 15],
  ["select nothing(1)", "query.unknownObject", "42883", 8],
  ["select abs(1, 2)", "query.unknownObject", "42883", 8],
  ["select * from nowhere.t", "query.unknownObject", "42000", 15],
  ["create type e as enum ('a'); ", "query.invalid", "42710"],
  ["create table t (a integer)", "query.invalid", "42P07"],
  ["create schema main", "query.invalid", "42P06"],
  ["select id, count(*) from t", "query.invalid", "42000", 8],
  ["select 'x'::integer", "query.data", "22P02", 11],
  ["select '2020-13-01'::date", "query.data", "22P02", 20],
  ["select 2147483647::integer + 1::integer", "query.data", "22003"],
  ["select sqrt(-1)", "query.data", "22003"],
  ["select error('boom')", "query.data", "22023"],
  ["insert into t values (1, 'again')", "query.constraint", "23505"],
  ["insert into t values (2, 'a'), (2, 'b')", "query.constraint", "23505"],
  ["create unique index i on twice (a)", "query.constraint", "23505"],
  ["insert into t values (2, null)", "query.constraint", "23502"],
  ["insert into t values (2, 'q')", "query.constraint", "23514"],
  ["insert into other values (9)", "query.constraint", "23503"],
  ["delete from t", "query.constraint", "23503"],
  ["select * from read_csv('/nowhere/at/all.csv')", "query.permission", "42501", 15],
];

describe("errorOf", () => {
  for (const [sql, code, sqlState, position] of failures) {
    it(`answers ${code} ${sqlState} to ${sql}`, async () => {
      if (sql.startsWith("create type")) await ran(backend, sql);
      const { last } = await ran(backend, sql);
      expect(last?.kind === "failed" && last.error).toMatchObject({ code, sqlState });
      expect(last?.kind === "failed" && last.error.position).toBe(position);
    });
  }

  it("passes the engine's message on when it is about the client's SQL, and never otherwise", async () => {
    const { last } = await ran(backend, "select * from nowhere");
    expect(last?.kind === "failed" && last.error.message).toContain("nowhere does not exist");
    const inner = driverFailure(
      '{"exception_type":"INTERNAL","exception_message":"secret","stack_trace":"/lib"}',
    );
    const error = errorOf(inner, { sql: "select 1", writes: false });
    expect(error).toEqual({
      code: "engine.failed",
      message: errorCatalogue["engine.failed"].text,
      detail: "INTERNAL",
    });
  });

  it("cuts endless messages", () => {
    const long = driverFailure(
      JSON.stringify({ exception_type: "Binder", exception_message: "x".repeat(100_000) }),
    );
    expect(errorOf(long, { sql: "", writes: false }).message.length).toBeLessThan(3_000);
  });

  it("has an answer to every code of the binding", () => {
    const codes: readonly FailureCode[] = [
      "driver",
      "cancelled",
      "empty",
      "several",
      "refused",
      "parameters",
      "unreadable",
      "library",
      "broken",
      "bug",
    ];
    for (const code of codes) {
      const failure = { code, status: 0, message: "m", vendorCode: undefined, sqlState: undefined };
      expect(errorCatalogue).toHaveProperty([errorOf(failure, { sql: "", writes: false }).code]);
    }
  });
});

describe("readFailure", () => {
  it("reads the JSON behind a prefix, and the class before a plain text", () => {
    const json =
      '{"exception_type":"Parser","exception_message":"m","position":"7","error_subtype":"S"}';
    expect(readFailure(`Parser Error: ${json}`)).toEqual({
      type: "Parser",
      message: "m",
      subtype: "S",
      object: undefined,
      position: 7,
    });
    expect(readFailure("Invalid Input Error: no {braces}")).toMatchObject({
      type: "Invalid Input",
      message: "no {braces}",
    });
    expect(readFailure("whatever")).toMatchObject({ type: "unknown", message: "whatever" });
  });
});

describe("unitAt", () => {
  it("finds the UTF-16 unit that begins at any character's first byte", () => {
    const check = fc.property(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "grapheme" }),
      (before, after) => {
        const byte = new TextEncoder().encode(before).length;
        expect(unitAt(before + after, byte)).toBe(before.length + 1);
      },
    );
    fc.assert(check);
  });
});

function driverFailure(message: string) {
  return {
    code: "driver",
    status: 5,
    message,
    vendorCode: undefined,
    sqlState: undefined,
  } as const;
}
