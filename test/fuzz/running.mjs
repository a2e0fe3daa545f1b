/** A gateway that is sent what nobody should send, and how it is. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { freePlace, startConfigured } from "../real/configuredGateway.mjs";

/** Before DuckDB, with listeners of these kinds; nobody is asked who they are. */
export function startFuzzed(kinds) {
  return startConfigured(() => ({
    gateway: {
      frontends: Object.fromEntries(kinds.map((kind) => [kind, freePlace])),
      adminApi: freePlace,
      persistence: { type: "inMemory" },
    },
    clusters: { local: { engine: "duckDb" } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: 16 } },
    routingFallback: "default",
    auth: { provider: "none" },
  }));
}

/** Runs against it, stops it, prints what `run` put among the problems and the total, and ends the program by that. */
export async function ranOn(gateway, problems, run) {
  try {
    await run();
  } catch (error) {
    problems.push(`FAILED   ${error.stack}`);
  } finally {
    await gateway.stop();
  }
  for (const problem of problems) console.log(problem);
  const failed = Number(problems.length > 0);
  console.log(`${1 - failed} passed, ${failed} failed, 0 skipped`);
  process.exit(failed);
}

/** Faults of its own that it has counted. */
export async function bugsCounted({ ports }) {
  const text = await (await fetch(`http://127.0.0.1:${ports.adminApi}/metrics`)).text();
  const [, count] = /^gateway_bugs_total (\d+)$/m.exec(text) ?? [];
  if (count === undefined) throw new Error("the gateway counts no bugs");
  return Number(count);
}

export function residentBytes({ pid }) {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(kilobytes) * 1_024;
}

/** What a source in TypeScript of this folder exports. */
export async function bundled(source) {
  const folder = mkdtempSync(join(tmpdir(), "gateway-fuzz-"));
  const outfile = join(folder, "bundled.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL(source, import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
  });
  const made = await import(pathToFileURL(outfile).href);
  rmSync(folder, { recursive: true });
  return made;
}
