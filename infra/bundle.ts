/**
 * The code of a function: the same bundle that the tests drive, not one that SST makes.
 *
 * Built when the first function asks, so that a deployment never ships an old one. Each function has
 * a folder of its own, because SST puts its links beside the code.
 */
import { execFileSync } from "node:child_process";

let built = false;

/** Source: packages/gateway/bin/buildLambda.mjs */
export function functionBundle(name: "control" | "migration" | "upkeep") {
  if (!built) {
    const program = "packages/gateway/bin/buildLambda.mjs";
    execFileSync(process.execPath, [program], { cwd: $cli.paths.root, stdio: "inherit" });
    built = true;
  }
  return {
    bundle: `packages/gateway/dist/lambda/${name}`,
    handler: "index.handler",
    runtime: "nodejs22.x" as const,
    architecture: "arm64" as const,
  };
}
