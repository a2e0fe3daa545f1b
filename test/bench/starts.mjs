/**
 * How soon something new answers: the npm package from its command to the first answer, a worker from its disk copy
 * to `/readyz` with everything else dead, the function of the control plane from import to answer; and what the
 * package weighs. Processor time stands beside the time that passes, which grows with whatever else runs.
 *
 * Also run alone: `node test/bench/starts.mjs`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { nativePackages, withBinary } from "../../packages/gateway/bin/package.mjs";
import { answers, bytesOf, installed } from "../real/cases/npmPackage.mjs";
import { spread } from "./figures.mjs";
import { lambdaRows } from "./lambda.mjs";
import { groupProcessorMs } from "./processor.mjs";
import { diskStarts } from "./worker.mjs";

const starts = 3;
const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));

export async function startRows() {
  const folder = mkdtempSync(join(tmpdir(), "gateway-bench-starts-"));
  try {
    const rows = await packageRows(folder);
    const worker = await diskStarts(folder);
    rows.push({
      what: "worker: start from disk, all else dead, to /readyz",
      "passed ms": spread(worker.passedMs, 0),
      "processor ms": spread(worker.processorMs, 0),
    });
    const functionRows = await lambdaRows();
    const medianOf = (name) => functionRows.find(({ what }) => name.test(what)).median;
    rows.push({
      what: "function: import to first answer",
      "passed ms": medianOf(/import to first/),
      "processor ms": medianOf(/processor/),
    });
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function packageRows(folder) {
  const { home, tarball } = await installed(folder, ["--prefix", folder]);
  const figures = { passedMs: [], processorMs: [] };
  for (let count = 0; count < starts; count += 1) {
    const taken = await answers(home, ["npx", "--offline", "query-gateway"], folder, (pid) =>
      figures.processorMs.push(groupProcessorMs(pid)),
    );
    figures.passedMs.push(taken.seconds * 1_000);
  }
  const megabytes = (...paths) =>
    `${(paths.reduce((sum, path) => sum + bytesOf(path), 0) / 1e6).toFixed(1)} MB`;
  const unpacked = join(folder, "node_modules/query-gateway");
  const natives = nativePackages.flatMap(withBinary).map((name) => join(modules, name));
  return [
    {
      what: "npx query-gateway to the first answer",
      "passed ms": spread(figures.passedMs, 0),
      "processor ms": spread(figures.processorMs, 0),
    },
    { what: "npm package: tarball", size: megabytes(tarball) },
    { what: "… unpacked", size: megabytes(unpacked) },
    { what: "… with its native packages", size: megabytes(unpacked, ...natives) },
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const rows = await startRows();
  console.table(Object.fromEntries(rows.map(({ what, ...figures }) => [what, figures])));
}
