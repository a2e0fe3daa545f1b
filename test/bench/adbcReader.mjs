/**
 * Batches of an engine behind an ADBC driver, to a reader in the same process: what a client would be
 * served with that takes columns as they are. Run by adbc.mjs, bundled; prints rows a second of each round.
 */
import { pathToFileURL } from "node:url";
import { queryOf } from "@gateway/core/run/rig/plane.ts";
import { open } from "@gateway/engines/adbc/adapter.ts";
import { adbcConfig } from "@gateway/engines/adbc/config.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";

const [dist, libraries, uri, sql, rounds] = process.argv.slice(2);
const host = nodeHost(pathToFileURL(`${dist}/`), "error", undefined, [libraries]);
const config = adbcConfig.parse({
  engine: "adbc",
  driver: "postgresql",
  uri,
  poolSize: 1,
  auth: { type: "basic", username: "gateway", password: "trusted" },
});
const opened = await open("bench", config, host);
if (!opened.ok) throw new Error(opened.error.message);
const backend = opened.value;
const perSecond = [];
for (let round = 0; round <= Number(rounds); round += 1) {
  const from = performance.now();
  let rows = 0;
  for await (const event of backend.execute(identified(sql), new AbortController().signal)) {
    if (event.kind === "failed") throw new Error(event.error.message);
    if (event.kind === "batch") rows += event.batch.rows;
  }
  // The first round warms up both sides.
  if (round > 0) perSecond.push(rows / ((performance.now() - from) / 1000));
}
console.log(JSON.stringify(perSecond));
process.exit(0);

/** At the end of its way through the pipeline. */
function identified(text) {
  return {
    ...queryOf(text),
    allowedSql: text,
    engineSql: text,
    maxExecutionMs: undefined,
    group: "bench",
    trace: [],
    backendIdentity: { mode: "serviceAccount" },
    slot: { cluster: "bench", fence: 0, holder: "bench/0" },
  };
}
