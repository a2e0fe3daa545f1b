/**
 * A cold start of the control plane as a function: from the import of the bundle to the first answer,
 * which opens the database and reads the configuration. Each start is a process of its own; Neon's
 * protocol is spoken to an emulator on this machine, so the way to a database elsewhere comes on top.
 *
 * Also run alone: `node test/bench/lambda.mjs`. Target: under 300 ms.
 */
import { rmSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { processorMs } from "./processor.mjs";
import { embeddedPrograms, startPostgres } from "../real/postgresServer.mjs";

const starts = 15;
const root = fileURLToPath(new URL("../../", import.meta.url));

export async function lambdaRows() {
  const programs = await embeddedPrograms();
  if (programs.folder === undefined) throw new Error(programs.reason);
  const postgres = await startPostgres(programs.folder);
  try {
    const { hostname, port } = new URL(postgres.url);
    return await measured({ url: postgres.url, host: hostname, port: Number(port) });
  } finally {
    await postgres.stop();
  }
}

async function measured(server) {
  const { deploy, stepAsFunction } = await testParts();
  const deployment = await deploy(server, stepAsFunction);
  const headers = { authorization: `Bearer ${deployment.fleetSecret}` };
  const figures = { imported: [], opened: [], total: [], processor: [], warm: [] };
  try {
    await fill(deployment);
    for (let count = 0; count < starts; count += 1) {
      const instance = await deployment.start();
      const usedMs = processorMs(instance.pid);
      const startedMs = performance.now();
      const { status } = await instance.ask({ path: "/worker/config", headers });
      const answeredMs = performance.now();
      const answerUsedMs = processorMs(instance.pid) - usedMs;
      if (status !== 200) throw new Error(`answered ${status}: ${instance.log()}`);
      await instance.ask({ path: "/worker/config", headers });
      figures.imported.push(instance.importMs);
      figures.opened.push(answeredMs - startedMs);
      figures.total.push(instance.importMs + answeredMs - startedMs);
      figures.processor.push(instance.importProcessorMs + answerUsedMs);
      figures.warm.push(performance.now() - answeredMs);
      await instance[Symbol.asyncDispose]();
    }
  } finally {
    await deployment[Symbol.asyncDispose]();
  }
  return [
    rowOf("function: import", figures.imported),
    rowOf("function: first answer, with opening", figures.opened),
    rowOf("function: import to first answer", figures.total),
    rowOf("… processor time by then", figures.processor),
    rowOf("function: next answer", figures.warm),
  ];
}

/** An empty control plane has no snapshot to answer with. */
async function fill({ admin, start }) {
  const instance = await start();
  const basic = Buffer.from(`${admin.name}:${admin.password}`).toString("base64");
  const headers = {
    authorization: `Basic ${basic}`,
    "content-type": "application/json",
    "if-none-match": "*",
  };
  const body = JSON.stringify({ engine: "duckDb" });
  await instance.ask({ method: "PUT", path: "/admin/clusters/duck", headers, body });
}

/** What the tests deploy with, as JavaScript: Node 20 reads no TypeScript. Beside its source, which it finds files from. */
async function testParts() {
  const outfile = `${root}test/lambda/.deployment.${process.pid}.mjs`;
  try {
    await build({
      entryPoints: [`${root}test/lambda/deployment.ts`],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      external: [
        "*/buildLambda.mjs",
        "pg",
        "ws",
        "@neondatabase/serverless",
        "@electric-sql/pglite",
      ],
      logLevel: "error",
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile, { force: true });
  }
}

function rowOf(what, values) {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (share) => `${Math.round(sorted[Math.floor((sorted.length - 1) * share)])} ms`;
  return { what, median: at(0.5), lowest: at(0), highest: at(1) };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const rows = await lambdaRows();
  console.table(Object.fromEntries(rows.map(({ what, ...figures }) => [what, figures])));
}
