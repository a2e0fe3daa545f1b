import { describe, expect, it } from "vitest";
import { mainStart } from "./mainStart.ts";

describe("mainStart", () => {
  it.each([
    "with a as (select 1) |select * from a",
    "with update as (select 1) |select * from update",
    "with recursive insert (delete) as (select 1), merge as not materialized (values (1)) |table insert",
    "with a as (select 1) |update t set x = 1",
    'with "select" as (select 1) |values (1)',
    "with a as (select 1) |(select * from a) union select 2",
    "with a as (select 1) |((with b as (select 2) select * from b))",
    "with recursive t as (select 1 as n) search depth first by update, n set values |select * from t",
    "with recursive t as (select 1 as n) cycle insert set c to true default false using p, update as (select 2) |select 1",
    "with recursive t as (select 1 as n) search depth first by n set o cycle n set c using p |delete from t",
  ])("finds it in %s", (marked) => {
    const sql = marked.replace("|", "");
    expect(mainStart("postgres")(sql)).toBe(marked.indexOf("|"));
  });

  it.each(["select 1", "(with a as (select 1) select 2)", "with a as (select 1)", ""])(
    "finds none in '%s'",
    (sql) => expect(mainStart("postgres")(sql)).toBeUndefined(),
  );
});
