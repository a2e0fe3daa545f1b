import { recordOf } from "@gateway/core/record/rig/recordOf.ts";
import { describe, expect, it } from "vitest";
import { explainText } from "./explainText.ts";

describe("explainText", () => {
  it("says where a query went, why, and what became of it", () => {
    const record = recordOf({
      proxyQueryId: "q1",
      status: "failed",
      errorCode: "query.timeout",
      errorMessage: "took too long",
      tags: { team: "data" },
      routingTrace: [
        { step: "queryRegex[0]", outcome: "no match" },
        { step: "fallback", outcome: "group main" },
      ],
    });
    expect(explainText(record).split("\n")).toEqual([
      "query q1",
      "status      failed, query.timeout: took too long",
      "came        2026-01-01T00:00:00.000Z over postgresWire",
      "user        alice from 127.0.0.1",
      "group       main",
      "cluster     local (duckDb)",
      "identity    serviceAccount",
      "tags        team=data",
      "waited      1 ms",
      "ran         4 ms",
      "returned    1 rows, 8 bytes",
      `revision    ${record.revision}`,
      "sql         select 1",
      "route",
      "  1. queryRegex[0]: no match",
      "  2. fallback: group main",
      "",
    ]);
  });

  it("says so when there is no trace, and leaves out what is not known", () => {
    const record = recordOf({ routingTrace: [], sql: undefined, cluster: undefined });
    const text = explainText(record);
    expect(text).toContain("no trace");
    expect(text).not.toMatch(/^sql|^worker/m);
    expect(text).toMatch(/^cluster +none$/m);
  });

  it("prints no control character of a client, and no line that it forged", () => {
    const text = explainText(recordOf({ sql: "select 1\nstatus finished\u001b[2J\u202e" }));
    expect(text.match(/^status/gm)).toHaveLength(1);
    expect(text).not.toContain("\u001b");
    expect(text).not.toContain("\u202e");
  });
});
