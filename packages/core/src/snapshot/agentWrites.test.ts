import { describe, expect, it } from "vitest";
import { sessionOf } from "../rig/session.ts";
import { readStatement } from "../sql/statement.ts";
import { agentRefusal } from "./agentWrites.ts";

describe("agentRefusal", () => {
  const asked = (frontend: string, sql: string) => ({
    session: { ...sessionOf(), frontend },
    statement: readStatement(sql, "duckdb"),
  });

  it("refuses an agent what may write, unless the group lets it", () => {
    const query = asked("mcp", "DROP TABLE t");
    expect(agentRefusal(query, undefined)).toMatchObject({ code: "policy.denied" });
    expect(agentRefusal(query, false)).toMatchObject({ code: "policy.denied" });
    expect(agentRefusal(query, true)).toBeUndefined();
  });

  it("says that a text is in doubt where that is the reason", () => {
    const refusal = agentRefusal(asked("mcp", "SELECT 1; SELECT 2"), undefined);
    expect(refusal?.message).toContain("different ways");
  });

  it("lets an agent read, and leaves clients of every other protocol alone", () => {
    expect(agentRefusal(asked("mcp", "SELECT 1"), undefined)).toBeUndefined();
    expect(agentRefusal(asked("postgresWire", "DROP TABLE t"), undefined)).toBeUndefined();
  });
});
