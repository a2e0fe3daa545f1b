import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { HttpAnswer } from "../requests.ts";
import { wrongIn, type Judged } from "./judge.ts";

const column = { name: "a", type: "text", nullable: true };
const rowset = [["1"], [null]];
const result = {
  success: true,
  code: null,
  message: null,
  data: {
    rowtype: [column],
    queryResultFormat: "json",
    total: 2,
    returned: 2,
    statementTypeId: 4096,
    queryId: "",
    rowset,
  },
};
const failure = {
  success: false,
  code: "001003",
  message: "no",
  data: { errorCode: "001003", sqlState: "42000" },
};
const api = {
  resultSetMetaData: {
    numRows: 2,
    format: "jsonv2",
    rowType: [column],
    partitionInfo: [{ rowCount: 2 }],
  },
  code: "090001",
  sqlState: "00000",
  message: "done",
  createdOn: 0,
  data: rowset,
};
const answer = { jsonrpc: "2.0", id: 7, result: { content: [{ type: "text", text: "1" }] } };
const refusal = { jsonrpc: "2.0", id: null, error: { code: -32600, message: "no" } };
const stats = {
  state: "FINISHED",
  queued: false,
  scheduled: true,
  ...Object.fromEntries(
    [
      "nodes",
      "totalSplits",
      "queuedSplits",
      "runningSplits",
      "completedSplits",
      "cpuTimeMillis",
      "wallTimeMillis",
      "queuedTimeMillis",
      "elapsedTimeMillis",
      "processedRows",
      "processedBytes",
      "peakMemoryBytes",
    ].map((name) => [name, 0]),
  ),
};
const id = "20260101_000000_00001_abcde";
const page = {
  id,
  infoUri: `http://a/v1/query/${id}`,
  columns: [{ name: "a", type: "bigint", typeSignature: { rawType: "bigint", arguments: [] } }],
  data: [[1]],
  stats,
  warnings: [],
};
const error = {
  message: "no",
  errorCode: 1,
  errorName: "SYNTAX_ERROR",
  errorType: "USER_ERROR",
  failureInfo: { type: "a", message: "no", suppressed: [], stack: [] },
};
const failed = { ...page, data: undefined, error, stats: { ...stats, state: "FAILED" } };

/** By whom, which document, and with which status but 200. */
type Answered = readonly [Judged, unknown, number?];

const right: readonly Answered[] = [
  ["snowflake", result],
  ["snowflake", failure],
  ["snowflake", { ...result, data: null }],
  ["snowflake", api],
  ["snowflake", { data: rowset }],
  ["snowflake", { code: "000604", sqlState: "57014", message: "cancelled" }],
  ["mcp", answer],
  ["mcp", refusal, 400],
  ["trino", page],
  ["trino", failed],
  ["trino", { ...page, nextUri: "http://a/b", stats: { ...stats, state: "RUNNING" } }],
  ["trino", "ACTIVE"],
];

const wrong: readonly Answered[] = [
  ["snowflake", { ...result, success: undefined }],
  ["snowflake", { ...result, message: undefined }],
  ["snowflake", { ...result, code: "390100" }],
  ["snowflake", result, 500],
  ["snowflake", { ...result, more: 1 }],
  [
    "snowflake",
    {
      ...result,
      data: {
        ...result.data,
        rowset: [
          ["1", "2"],
          ["1", "2"],
        ],
      },
    },
  ],
  ["snowflake", { ...result, data: { ...result.data, rowset: [[1], [2]] } }],
  ["snowflake", { ...result, data: { ...result.data, total: 3 } }],
  ["snowflake", { ...result, data: { ...result.data, rowset: undefined } }],
  ["snowflake", { ...failure, message: null }],
  ["snowflake", { ...failure, code: "001004" }],
  ["snowflake", { ...api, data: [["1"]] }],
  ["snowflake", { ...api, code: undefined }],
  ["snowflake", { code: "001003", sqlState: "42000", message: "a failure with 200" }],
  ["mcp", { ...answer, id: 8 }],
  ["mcp", { ...answer, id: null }],
  ["mcp", { ...answer, jsonrpc: undefined }],
  ["mcp", { ...answer, error: refusal.error }],
  ["mcp", { jsonrpc: "2.0", id: 7 }],
  ["mcp", { ...refusal, error: { code: "no", message: "no" } }],
  ["mcp", [answer]],
  ["trino", { ...page, id: undefined }],
  ["trino", { ...page, infoUri: "http://a/v1/query/other" }],
  ["trino", { ...page, stats: undefined }],
  ["trino", { ...page, stats: { ...stats, state: "RUNNING" } }],
  ["trino", { ...page, columns: undefined }],
  ["trino", { ...page, data: [[1, 2]] }],
  ["trino", { ...page, warnings: undefined }],
  ["trino", { ...failed, stats }],
  ["trino", { ...failed, error: { ...error, errorType: "NO_ERROR" } }],
  ["trino", { ...failed, error: { ...error, failureInfo: undefined } }],
  ["trino", page, 404],
  ["trino", "GONE"],
];

describe("wrongIn", () => {
  it.each(right.map(told))("takes what %s answers: %j", (wire, document, status) => {
    expect(wrongIn(wire, answerOf(document, status), sent)).toBeUndefined();
  });

  it.each(wrong.map(told))(
    "takes nothing else for what %s answers: %j",
    (wire, document, status) => {
      expect(wrongIn(wire, answerOf(document, status), sent)).toEqual(expect.any(String));
    },
  );

  it("reads what is packed, and lets words go with refusals alone", () => {
    const packed = gzipSync(JSON.stringify({ ...result, success: undefined }));
    const headers = [["content-encoding", "gzip"]] as const;
    expect(wrongIn("snowflake", answerOf(packed, 200, headers), sent)).toEqual(expect.any(String));
    const words = (status: number) =>
      wrongIn("trino", answerOf(Buffer.from("no"), status, [["content-type", "text/plain"]]), sent);
    expect([words(404), words(200)]).toEqual([undefined, "200 with text/plain"]);
  });

  it("reads a stream of events to the message that answers", () => {
    const progress = { jsonrpc: "2.0", method: "notifications/progress", params: {} };
    const said = (...messages: readonly unknown[]) => {
      const text = messages.map((one) => `event: message\ndata: ${JSON.stringify(one)}\n\n`);
      const headers = [["content-type", "text/event-stream"]] as const;
      return wrongIn("mcp", answerOf(Buffer.from(text.join("")), 200, headers), sent);
    };
    expect(said(progress, answer)).toBeUndefined();
    expect(said(answer, progress)).toEqual(expect.any(String));
    expect(said({ ...progress, jsonrpc: "1.0" }, answer)).toEqual(expect.any(String));
    expect(said({ ...answer, id: 8 })).toEqual(expect.any(String));
  });
});

const sent = Buffer.from('POST /mcp HTTP/1.1\r\n\r\n{"jsonrpc":"2.0","id":7,"method":"ping"}');

function told([wire, document, status = 200]: Answered) {
  return [wire, document, status] as const;
}

function answerOf(
  document: unknown,
  status: number,
  headers: readonly (readonly [string, string])[] = [],
): HttpAnswer {
  const body = Buffer.isBuffer(document) ? document : Buffer.from(JSON.stringify(document));
  return { status, headers: new Map([["content-type", "application/json"], ...headers]), body };
}
