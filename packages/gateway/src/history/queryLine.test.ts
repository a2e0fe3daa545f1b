import type { QueryRecord } from "@gateway/contract/record.ts";
import { recordedLog } from "@gateway/core/rig/recorder.ts";
import { redact } from "@gateway/core/record/redact.ts";
import { recordOf } from "@gateway/core/record/rig/recordOf.ts";
import fc from "fast-check";
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

  it("says what the record says, each time anew", () => {
    const log = recordedLog();
    const base = recordOf({ digestHash: "d" });
    const changes = [{}, { user: 'b"c' }, { status: "failed", errorCode: "e" }, { cluster: "c" }];
    const more = [{ clusterGroup: undefined }, { frontend: "f" }, { rowsReturned: 7 }, {}];
    const records = [...changes, ...more].map((change) => ({ ...base, ...change }) as QueryRecord);
    for (const record of records) writeQueryLine(record, log);
    expect(log.lines).toEqual(
      records.map((record) => ({
        level: "info",
        event: "query.ended",
        fields: {
          queryId: record.proxyQueryId,
          frontend: record.frontend,
          user: record.user,
          clusterGroup: record.clusterGroup,
          cluster: record.cluster,
          status: record.status,
          errorCode: record.errorCode,
          digest: "d",
          rows: record.rowsReturned,
          bytes: record.bytesReturned,
          queueMs: 1,
          executionMs: 4,
        },
      })),
    );
  });

  it("writes milliseconds as JSON does, to whole microseconds", () => {
    const numbers = fc.oneof(
      fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
      fc.double({ min: 0, max: 10, noNaN: true }),
    );
    const asJson = fc.property(numbers, (queueMs) => {
      const log = recordedLog();
      writeQueryLine(recordOf({ digestHash: "d", queueMs }), log);
      const written = JSON.stringify(Math.round(queueMs * 1_000) / 1_000);
      expect(JSON.stringify(log.lines[0]?.fields["queueMs"])).toBe(written);
    });
    fc.assert(asJson);
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
