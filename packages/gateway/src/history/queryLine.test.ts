import { recordedLog } from "@gateway/core/rig/recorder.ts";
import { redact } from "@gateway/core/record/redact.ts";
import { recordOf } from "@gateway/core/record/rig/recordOf.ts";
import { describe, expect, it } from "vitest";
import { writeQueryLine, writeQueryText } from "./queryLine.ts";

describe("writeQueryLine", () => {
  it("gives queries that differ in their literals the same digest", () => {
    const log = recordedLog();
    for (const sql of ["select 1 from t", "SELECT 22 from  t", "select 1 from other"]) {
      writeQueryLine(recordOf({ sql }), log);
    }
    const [first, second, third] = log.lines.map(({ fields }) => fields["digest"]);
    expect(first).toBe(second);
    expect(first).not.toBe(third);
  });

  it("has the same digest whatever the redaction left of the record", () => {
    const log = recordedLog();
    const record = recordOf({ sql: "select 'hunter2'" });
    writeQueryLine(record, log);
    writeQueryLine(redact(record, "full"), log);
    writeQueryLine(redact(record, "metadata"), log);
    expect(new Set(log.lines.map(({ fields }) => fields["digest"])).size).toBe(1);
    expect(JSON.stringify(log.lines)).not.toContain("hunter2");
  });
});

describe("writeQueryText", () => {
  it("writes the text with its literals masked, and nothing when they can not be", () => {
    const log = recordedLog();
    writeQueryText(recordOf({ sql: "select * from t where pin = 'hunter2'" }), log);
    writeQueryText(recordOf({ sql: "select 'hunter2" }), log);
    expect(log.lines).toMatchObject([
      { level: "debug", event: "query.text", fields: { sql: "select * from t where pin = ?" } },
    ]);
  });
});
