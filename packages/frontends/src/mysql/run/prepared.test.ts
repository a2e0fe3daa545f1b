import { classifyStatement } from "@gateway/core/sql/classify/classify.ts";
import { describe, expect, it } from "vitest";
import { preparedMax } from "../limits.ts";
import { PreparedStatements } from "./prepared.ts";

describe("PreparedStatements", () => {
  it("gives each statement its own id and forgets a closed one", () => {
    const prepared = new PreparedStatements(1000);
    const first = prepared.add(statementOf("a")) ?? 0;
    const second = prepared.add(statementOf("b")) ?? 0;
    expect(first).not.toBe(second);
    prepared.close(first);
    expect(prepared.get(first)).toBeUndefined();
    expect(prepared.get(second)?.source).toBe("b");
  });

  it("refuses more statements than the limit, and takes one again after a close", () => {
    const prepared = new PreparedStatements(1 << 20);
    const ids = Array.from({ length: preparedMax }, () => prepared.add(statementOf("x")));
    expect(prepared.add(statementOf("x"))).toBeUndefined();
    prepared.close(ids[0] ?? 0);
    expect(prepared.add(statementOf("x"))).toBeDefined();
  });

  it("refuses texts that are too long together", () => {
    const prepared = new PreparedStatements(1000);
    expect(prepared.add(statementOf("x".repeat(1500)))).toBeDefined();
    expect(prepared.add(statementOf("x".repeat(900)))).toBeUndefined();
  });

  it("joins the pieces of a value that was sent ahead, once", () => {
    const prepared = new PreparedStatements(1000);
    const id = prepared.add(statementOf("x")) ?? 0;
    prepared.append(id, 0, Buffer.from("ab"));
    prepared.append(id, 0, Buffer.from("c"));
    expect(prepared.takeLongData(id)).toEqual({
      values: new Map([[0, Buffer.from("abc")]]),
      overflowed: false,
    });
    expect(prepared.takeLongData(id).values.size).toBe(0);
  });

  it("keeps no more sent ahead than the limit, over all statements, and says so at the execution", () => {
    const prepared = new PreparedStatements(1000);
    const first = prepared.add(statementOf("x")) ?? 0;
    const second = prepared.add(statementOf("y")) ?? 0;
    prepared.append(first, 0, new Uint8Array(600));
    prepared.append(second, 0, new Uint8Array(600));
    expect(prepared.takeLongData(second)).toEqual({ values: new Map(), overflowed: true });
    expect(prepared.takeLongData(second).overflowed).toBe(false);
    expect(prepared.takeLongData(first).values.get(0)?.length).toBe(600);
  });

  it("counts what many small pieces cost", () => {
    const prepared = new PreparedStatements(10_000);
    const id = prepared.add(statementOf("x")) ?? 0;
    for (let piece = 0; piece < 1000; piece += 1) prepared.append(id, 0, Uint8Array.of(1));
    expect(prepared.takeLongData(id)).toMatchObject({ overflowed: true });
  });

  it("ignores values for statements and parameters that do not exist", () => {
    const prepared = new PreparedStatements(1000);
    const id = prepared.add(statementOf("x")) ?? 0;
    prepared.append(id, 1, Uint8Array.of(1));
    prepared.append(99, 0, Uint8Array.of(1));
    expect(prepared.takeLongData(id).values.size).toBe(0);
    expect(prepared.reset(99)).toBe(false);
  });
});

function statementOf(source: string) {
  const statement = classifyStatement(source, "mysql");
  return {
    source,
    statement,
    sql: undefined,
    parameters: [{ kind: "null" }],
    columns: [],
  } as const;
}
