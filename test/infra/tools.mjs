/**
 * Programs that judge what lies in `infra` and `.github`: helm and actionlint from the Go module proxy, promtool
 * from Debian. Each tool is true, or the reason why it can not be had.
 */
import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { command } from "../real/command.mjs";

const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
const helmVersion = "v3.22.0";
const actionlintVersion = "v1.7.12";
const buildSeconds = 1_500;

export const helm = join(cache, `helm-${helmVersion}`, "helm");
export const actionlint = join(cache, `actionlint-${actionlintVersion}`, "actionlint");
export const promtool = join(cache, "promtool", "usr/bin/promtool");

/** Building it takes four minutes of processor time, which only the nightly run spends; the program is kept. */
export async function helmTool() {
  if (!existsSync(helm) && process.env["GATEWAY_NIGHTLY"] !== "1") {
    return "building helm takes minutes: the nightly run does, with GATEWAY_NIGHTLY=1";
  }
  return goProgram(helm, `helm.sh/helm/v3/cmd/helm@${helmVersion}`);
}

/** Half a minute of processor time, once. */
export function actionlintTool() {
  return goProgram(actionlint, `github.com/rhysd/actionlint/cmd/actionlint@${actionlintVersion}`);
}

async function goProgram(program, module) {
  if (existsSync(program)) return true;
  if ((await command("go", ["version"])).code !== 0) return "there is no go";
  const env = { GOBIN: join(program, "..") };
  const built = await command("go", ["install", module], { env, seconds: buildSeconds });
  return built.code === 0 || `go install failed: ${built.stderr.slice(-200)}`;
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
