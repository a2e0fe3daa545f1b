/** Debian's Chromium, for the web console. */
import { command } from "./command.mjs";

/** True, or the reason why it is missing. */
export async function chromiumTool() {
  if (await runs()) return true;
  if (process.getuid?.() !== 0) return "chromium is not installed, and installing needs root";
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const wait = ["-o", "DPkg::Lock::Timeout=120"];
  await command("apt-get", ["update", "-q"], { env, seconds: 180 });
  const args = [...wait, "install", "-y", "-q", "--no-install-recommends", "chromium"];
  const installed = await command("apt-get", args, { env, seconds: 300 });
  return (installed.code === 0 && (await runs())) || "apt-get could not install chromium";
}

async function runs() {
  return (await command("/usr/bin/chromium", ["--version"])).code === 0;
}
