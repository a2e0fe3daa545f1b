import { describe, expect, it } from "vitest";
import { databaseErrorOf, ruins } from "./pgError.ts";

describe("databaseErrorOf", () => {
  it("keeps codes and the constraint, and nothing that could hold a parameter", () => {
    const error = Object.assign(new Error("Key (name)=(hunter2) already exists."), {
      code: "23505",
      constraint: "users_pkey",
      detail: "Key (name)=(hunter2) already exists.",
    });
    expect(databaseErrorOf(error)).toEqual({
      kind: "refused",
      code: "23505",
      constraint: "users_pkey",
    });
  });

  it("tells an answer of the database from a connection that failed", () => {
    expect(databaseErrorOf(coded("42P01")).kind).toBe("refused");
    expect(databaseErrorOf(coded("08006")).kind).toBe("unreachable");
    expect(databaseErrorOf(coded("ECONNREFUSED")).kind).toBe("unreachable");
    expect(databaseErrorOf(new Error("hunter2"))).toEqual({
      kind: "unreachable",
      code: "noAnswer",
    });
    const wrapped = new Error("hunter2", { cause: coded("ECONNREFUSED") });
    const sent = Object.assign(new Error("hunter2"), { sourceError: wrapped });
    expect(databaseErrorOf(sent)).toEqual({ kind: "unreachable", code: "ECONNREFUSED" });
    expect(databaseErrorOf("hunter2")).toEqual({ kind: "unreachable", code: "noAnswer" });
  });
});

describe("ruins", () => {
  it("gives up a connection that the server ended", () => {
    expect(ruins(databaseErrorOf(coded("57P01")))).toBe(true);
    expect(ruins(databaseErrorOf(coded("57014")))).toBe(false);
    expect(ruins(databaseErrorOf(coded("ECONNRESET")))).toBe(true);
  });
});

function coded(code: string): Error {
  return Object.assign(new Error("hunter2"), { code });
}
