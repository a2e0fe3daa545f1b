import type { QueryId } from "@gateway/core/query/query.ts";
import { describe, expect, it } from "vitest";
import { suiteHost } from "../../rig/host.ts";
import type { OpenStatement } from "./openStatement.ts";
import { Shelf } from "./shelf.ts";

describe("Shelf", () => {
  it("refuses a user who has half of all there may be open, and nobody else", () => {
    const shelf = new Shelf(suiteHost());
    const all = Array.from({ length: 1_000 }, (_, index) => statementOf(`q${index}`, "ann"));
    for (const statement of all) shelf.add(statement);
    expect(shelf.refusalOf("ann")?.code).toBe("capacity.queueFull");
    expect(shelf.refusalOf("bob")).toBeUndefined();
    const [first] = all;
    if (first !== undefined) shelf.over(first);
    expect(shelf.refusalOf("ann")).toBeUndefined();
  });
});

function statementOf(id: string, user: string): OpenStatement {
  const polled = { query: { id: id as QueryId }, owner: { user } };
  return { polled } as unknown as OpenStatement;
}
