/** The sample that an embedded database is filled with. */
import type { Backend } from "@gateway/core/port/backend.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hostOf, ran, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { duckDbConfig } from "../config.ts";
import { sampleRows } from "./sample.ts";

const config = duckDbConfig.parse({ engine: "duckDb" });
const sampled = async (cluster: string): Promise<Backend> =>
  valueOf(await open(cluster, config, hostOf(), { kind: "sample" }));

/** Filled once: each takes seconds. */
let once: Backend;
beforeAll(async () => {
  once = await sampled("once");
}, 60_000);
afterAll(() => once[Symbol.asyncDispose]());

describe("the sample", () => {
  it("has its tables with their rows, and every order has a customer", async () => {
    const counts = await ran(
      once,
      `select (select count(*) from customers), (select count(*) from orders),
              (select count(*) from line_items), (select count(*) from events)`,
    );
    expect(counts.rows).toEqual([Object.values(sampleRows).map(BigInt)]);
    const orphans = await ran(
      once,
      `select count(*) from orders anti join customers using (customer_id)
       union all select count(*) from line_items anti join orders using (order_id)
       union all select count(*) from events anti join customers using (customer_id)`,
    );
    expect(orphans.rows.flat()).toEqual([0n, 0n, 0n]);
  }, 30_000);

  it("is the same every time", async () => {
    await using again = await sampled("again");
    const sums: unknown[] = [];
    for (const backend of [once, again]) {
      const sql =
        "select sum(quantity * unit_price), min(delivered_on), max(product) from line_items";
      sums.push((await ran(backend, sql)).rows);
      sums.push(
        (
          await ran(
            backend,
            "select name, email, phone, credit_limit from customers where customer_id = 4711",
          )
        ).rows,
      );
    }
    expect(sums.slice(0, 2)).toEqual(sums.slice(2));
  }, 30_000);
});
