/**
 * Ordinary queries to DuckDB through the gateway's own binding, in one process and without listeners, so that a
 * checker of memory sees each access of the reader. Run by run.mjs, bundled; prints the rows it read.
 */
import { pathToFileURL } from "node:url";
import { queryOf } from "@gateway/core/run/rig/plane.ts";
import { open } from "@gateway/engines/duckDb/adapter.ts";
import { duckDbConfig } from "@gateway/engines/duckDb/config.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import { crowds } from "../abuse/engineKillers/corpus.ts";
import { ordinaryQuery } from "../ordinary/generate.ts";
import { tableStatements } from "../ordinary/tables.ts";

const [dist, seed, queries] = process.argv.slice(2);
const never = new AbortController().signal;
const host = nodeHost(pathToFileURL(`${dist}/`), "error");
const config = duckDbConfig.parse({ engine: "duckDb", threads: 1, isolation: "thread" });
const opened = await open("checked", config, host, { kind: "none" });
if (!opened.ok) throw new Error(opened.error.message);
const backend = opened.value;
for (const sql of tableStatements) await rowsOf(sql);
let rows = 0;
for (let at = 0; at < Number(queries); at += 1)
  rows += await rowsOf(ordinaryQuery(Number(seed) + at));
for (const [, sql] of crowds) rows += await rowsOf(sql);
// A result of many blocks, half read and left.
for await (const event of backend.execute(
  identifiedOf("select range, 'n' || range from range(200000)"),
  never,
))
  if (event.kind === "batch") break;
console.log(`${rows} rows`);
await backend[Symbol.asyncDispose]();
process.exit(0);

/** Reads each cell. */
async function rowsOf(sql) {
  let count = 0;
  for await (const event of backend.execute(identifiedOf(sql), never)) {
    if (event.kind === "failed") throw new Error(`${event.error.message}\n${sql}`);
    if (event.kind === "batch") count += columnarOf(event.batch).rows;
  }
  return count;
}

/** At the end of its way through the pipeline. */
function identifiedOf(text) {
  return {
    ...queryOf(text),
    allowedSql: text,
    engineSql: text,
    maxExecutionMs: undefined,
    group: "checked",
    trace: [],
    backendIdentity: { mode: "serviceAccount" },
    slot: { cluster: "checked", fence: 0, holder: "checked/0" },
  };
}
