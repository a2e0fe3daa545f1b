/**
 * `npm run bench`: what the gateway itself costs, measured from outside with public clients.
 *
 * One gateway process over embedded DuckDB; load generator in this process. `control` starts a control
 * plane of its own over PostgreSQL. Each figure is the median of rounds with the lowest and the
 * highest. Timings are printed and written to bench/results.json, never asserted.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { badInputRows } from "./badInput.mjs";
import { bulkRows } from "./bulkRelay.mjs";
import { cancelRows } from "./cancels.mjs";
import { capacityRows } from "./capacity.mjs";
import { clickhouseRows } from "./clickhouseRelay.mjs";
import { controlRows } from "./control.mjs";
import { engineRows } from "./engines.mjs";
import { flightRows } from "./flight.mjs";
import { startGateway } from "./gateway.mjs";
import { handRows } from "./hand.mjs";
import { identityRows } from "./identity.mjs";
import { idleRows } from "./idle.mjs";
import { isolationRows } from "./isolation.mjs";
import { lambdaRows } from "./lambda.mjs";
import { latencyRows } from "./latency.mjs";
import { memoryRow, standaloneMemoryRows } from "./memory.mjs";
import { keepAwake } from "./processes.mjs";
import { nativeRows } from "./native.mjs";
import { resultRows } from "./rows.mjs";
import { policyRows } from "./policy.mjs";
import { scriptRows } from "./scripts.mjs";
import { textRows } from "./texts.mjs";
import { translationRows } from "./translation.mjs";
import { wireRows } from "./wires.mjs";
import { studioRows } from "./studio.mjs";
import { startRows } from "./starts.mjs";
import { workerRows } from "./worker.mjs";

const only = process.argv.slice(2).filter((word) => !word.startsWith("-"));
const wanted = (name) => only.length === 0 || only.includes(name);

const rows = [];
if (wanted("idle")) rows.push(...(await idleRows()));
if (wanted("control")) rows.push(...(await controlRows()));
if (wanted("capacity")) rows.push(...(await capacityRows()));
if (wanted("worker")) rows.push(...(await workerRows()));
if (wanted("lambda")) rows.push(...(await lambdaRows()));
if (wanted("starts")) rows.push(...(await startRows()));
if (wanted("identity")) rows.push(...(await identityRows()));
if (wanted("hand")) rows.push(...(await handRows()));
if (wanted("studio")) rows.push(...(await studioRows()));
if (wanted("scripts")) rows.push(...(await scriptRows()));
if (wanted("policy")) rows.push(...(await policyRows()));
if (wanted("translation")) rows.push(...(await translationRows()));
if (wanted("clickhouse")) rows.push(...(await clickhouseRows()));
if (wanted("bulk")) rows.push(...(await bulkRows()));
// From here on one client asks and waits. Where many are at work no core ever rests.
keepAwake();
if (wanted("wires")) rows.push(...(await wireRows()));
if (wanted("cancels")) rows.push(...(await cancelRows()));
if (wanted("isolation")) rows.push(...(await isolationRows()));
if (wanted("badInput")) rows.push(...(await badInputRows()));
if (wanted("texts")) rows.push(...(await textRows()));
if (wanted("engines")) rows.push(...(await engineRows()));
if (wanted("native")) rows.push(...(await nativeRows()));
if (wanted("flight")) rows.push(...(await flightRows()));
const gateway = await startGateway();
try {
  if (wanted("latency")) rows.push(...(await latencyRows(gateway)));
  if (wanted("rows")) rows.push(...(await resultRows(gateway)));
  if (wanted("memory")) rows.push(await memoryRow(gateway));
} finally {
  await gateway.stop();
}
if (wanted("memory")) rows.push(...(await standaloneMemoryRows()));

const machine = `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
console.log(`\n${machine}\n`);
console.table(Object.fromEntries(rows.map(({ what, ...figures }) => [what, figures])));
mkdirSync("bench", { recursive: true });
writeFileSync("bench/results.json", `${JSON.stringify({ machine, rows }, null, 2)}\n`);
