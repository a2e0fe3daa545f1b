/** `gateway drill`: drills against a staging fleet, one after the other, and a report of what held. */
import type { DrillName } from "@gateway/contract/drillApi.ts";
import { exitCode, type Terminal } from "../command/terminal.ts";
import { nodeHost } from "../host/node.ts";
import { AdminApi } from "./admin.ts";
import { runDrill, type DrillParts } from "./drill.ts";
import type { NoEvidence } from "./evidence.ts";
import { shellHooks } from "./hook.ts";
import { judge, type Finding } from "./judge.ts";
import { readOptions, type DrillOptions } from "./options.ts";

/** Of one drill that was run, for people and for programs. */
interface Report {
  readonly drill: DrillName;
  readonly findings: readonly Finding[];
}

/**
 * 0: everything that was judged held. 1: the arguments are wrong, or the target refused. 2: a drill could not be run,
 * or not be undone. 4: an invariant was violated.
 */
export async function drillCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const options = readOptions(args, terminal.environment);
  if (!options.ok) {
    terminal.err(`${options.error}\n`);
    return exitCode.config;
  }
  const stop = new AbortController();
  const stopped = (): void => {
    terminal.err("stopping: what is broken is undone first\n");
    stop.abort();
  };
  process.on("SIGINT", stopped);
  process.on("SIGTERM", stopped);
  try {
    return await runAll(options.value, terminal, stop.signal);
  } finally {
    process.off("SIGINT", stopped);
    process.off("SIGTERM", stopped);
  }
}

async function runAll(
  options: DrillOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const host = nodeHost(terminal.bundle, "error");
  const parts: DrillParts = {
    api: new AdminApi(options.target, options.admin),
    hooks: shellHooks(terminal.environment, options.hookMs),
    options,
    clock: host.clock,
    signal,
    randomBytes: (length) => host.randomBytes(length),
    said: (line) => terminal.err(`${line}\n`),
  };
  const reports: Report[] = [];
  let unfit: NoEvidence | undefined;
  for (const drill of options.drills) {
    const evidence = await runDrill(parts, drill);
    if (!evidence.ok) {
      unfit = evidence.error;
      terminal.err(`${drill.name}: ${labels[unfit.kind]}: ${unfit.text}\n`);
      break;
    }
    reports.push({ drill: drill.name, findings: judge(drill.name, evidence.value) });
    // What is not back would be judged as the next one's fault.
    if (evidence.value.recoveredMs === undefined) break;
  }
  terminal.out(options.json ? `${JSON.stringify(reports, undefined, 2)}\n` : reportText(reports));
  return codeOf(reports, unfit);
}

const labels = {
  refused: "refused",
  notRun: "not run",
  notUndone: "NOT UNDONE",
} satisfies Record<NoEvidence["kind"], string>;

function codeOf(reports: readonly Report[], unfit: NoEvidence | undefined): number {
  const findings = reports.flatMap((report) => report.findings);
  if (unfit?.kind === "notUndone") return exitCode.startFailed;
  if (findings.some(({ kind }) => kind === "violated")) return exitCode.violated;
  if (unfit === undefined) return exitCode.clean;
  return unfit.kind === "refused" ? exitCode.config : exitCode.startFailed;
}

const words = {
  held: "held",
  violated: "VIOLATED",
  notJudged: "not judged",
} satisfies Record<Finding["kind"], string>;

function reportText(reports: readonly Report[]): string {
  const lines = reports.flatMap(({ drill, findings }) => [
    drill,
    ...findings.map(
      ({ invariant, kind, text }) => `  ${words[kind].padEnd(10)}  ${invariant.padEnd(8)}  ${text}`,
    ),
  ]);
  return lines.map((line) => `${line}\n`).join("");
}
