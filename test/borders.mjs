/**
 * Checks the import borders of `.dependency-cruiser.mjs` and prints one line per violation.
 *
 * It says who may import whom and nothing else. Run by `npm run borders`; the last line is a total.
 */
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { cruise } from "dependency-cruiser";
import extractTsConfig from "dependency-cruiser/config-utl/extract-ts-config";
import config from "../.dependency-cruiser.mjs";

/**
 * Share of the source files on disk that must have been looked at.
 *
 * Without a TypeScript compiler it understands, dependency-cruiser skips every `.ts` file and
 * reports "no violations". Counting against the disk turns that silence into a failure. Not 1,
 * because a file may appear or vanish between the two looks.
 */
const cruisedShareMin = 0.9;

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const { forbidden, options } = config;
const { output } = await cruise(
  ["packages"],
  { ...options, ruleSet: { forbidden }, validate: true },
  {},
  { tsConfig: extractTsConfig(options.tsConfig.fileName) },
);

const violations = output.summary.violations.map(lineOf).toSorted();
for (const line of violations) console.log(line);

const onDisk = sourcesOnDisk();
const cruised = output.modules.filter(({ source }) =>
  /^packages\/[^/]+\/src\/.*\.tsx?$/.test(source),
);
const blind = onDisk === 0 || cruised.length < onDisk * cruisedShareMin;
if (blind) {
  console.log(
    `looked at ${cruised.length} of ${onDisk} source files: is the "typescript" package a version dependency-cruiser understands?`,
  );
}
console.log(`${cruised.length} of ${onDisk} source files, ${violations.length} violations`);
process.exitCode = blind || violations.length > 0 ? 1 : 0;

/** "rule: from → to", with the way round for a cycle. */
function lineOf({ rule, from, to, cycle, via }) {
  const steps = (cycle ?? via ?? []).map((step) => step.name);
  return `${rule.name}: ${[from, ...(steps.length > 0 ? steps : [to])].join(" → ")}`;
}

function sourcesOnDisk() {
  return readdirSync("packages")
    .map((name) => `packages/${name}/src`)
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true }))
    .filter((path) => /\.tsx?$/.test(path)).length;
}
