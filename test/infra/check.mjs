/**
 * `npm run check:infra`: everything that can be known of a deployment without an account, in one command. SST's
 * types, the deployment walked for each kind of stage, the chart, alert rules, workflows, and the image's contents.
 * What a tool is missing for is skipped with the reason; the last line counts.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { alertCases, chartCases, workflowCases } from "../real/cases/infra.mjs";
import { imageCases } from "../real/cases/image.mjs";
import { imageTool } from "../real/image.mjs";
import { sstTypeProblems } from "./sstTypes.mjs";
import { actionlintTool, helmTool, promtoolTool } from "./tools.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
// Whoever asks for this one command waits for what has to be built.
process.env["GATEWAY_NIGHTLY"] = "1";

const counts = { passed: 0, failed: 0, skipped: 0 };
await one("types: agree with SST's", () => {
  const problems = sstTypeProblems();
  if (problems.length > 0) throw new Error(problems.join("\n"));
});
await one(
  "walked: every kind of stage, the image's instructions, workflows and the chart's values",
  () => ran(["node_modules/vitest/vitest.mjs", "run", "test/infra"]),
);
process.env["GATEWAY_SLOW"] = "1";
await one("reproducible: the code of functions comes out the same twice", () =>
  ran(["node_modules/vitest/vitest.mjs", "run", "test/infra/reproducible.slow.test.ts"]),
);
const suites = [
  [chartCases, helmTool],
  [alertCases, promtoolTool],
  [workflowCases, actionlintTool],
  [imageCases, imageTool],
];
for (const [{ tool, cases }, find] of suites) {
  const found = await find();
  for (const [name, run] of Object.entries(cases)) {
    await one(`${tool}: ${name}`, run, typeof found === "string" ? found : undefined);
  }
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 ? 0 : 1;

async function one(name, run, missing) {
  if (missing !== undefined) {
    counts.skipped += 1;
    console.log(`skipped  ${name} (${missing})`);
    return;
  }
  try {
    await run();
    counts.passed += 1;
    console.log(`passed   ${name}`);
  } catch (error) {
    counts.failed += 1;
    const text = error instanceof Error ? error.message : String(error);
    console.log(`FAILED   ${name}\n${text.replaceAll(/^/gm, "         ")}`);
  }
}

function ran(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
    });
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`exit code ${code}`))));
  });
}
