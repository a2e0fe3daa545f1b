/** SIGHUP reads the config file again where the file is the configuration. Where a database is, it logs that and does nothing. */
import type { Host } from "@gateway/core/port/host.ts";
import { lineOf } from "@gateway/control/config/check/report.ts";
import { loadDocument } from "../../config/load.ts";
import type { Running } from "../../running.ts";

/** Listens until disposed. What is refused is logged, and the running configuration stays. */
export function reloadOnSignal(
  { reload }: Pick<Running, "reload">,
  file: string,
  { log }: Pick<Host, "log">,
): Disposable {
  const take = async (): Promise<void> => {
    if (reload === undefined) {
      const advice = "the database is the configuration; use `gateway config apply`";
      return log.write("warn", "config.reloadIgnored", { advice });
    }
    const document = loadDocument(file);
    const problems = document.ok ? await reload(document.value) : document.error.map(lineOf);
    if (problems.length === 0) return log.write("info", "config.reloaded");
    log.write("error", "config.refused", { problem: problems.join("; ") });
  };
  const handle = (): void => void take().catch((bug: unknown) => log.bug(bug));
  process.on("SIGHUP", handle);
  return { [Symbol.dispose]: () => void process.off("SIGHUP", handle) };
}
