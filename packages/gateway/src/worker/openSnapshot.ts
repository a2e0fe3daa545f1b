/** From a verified snapshot to a generation: judged as strictly as a control plane judges what is written, then opened. */
import { judgeFile } from "@gateway/control/config/judge.ts";
import { fileOf } from "@gateway/control/config/file.ts";
import type { HistorySetting } from "@gateway/control/config/objects.ts";
import { lineOf, textOf } from "@gateway/control/config/report.ts";
import { objectsOfBody } from "@gateway/control/snapshot/build.ts";
import type { Capacity } from "@gateway/core/port/capacity.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Generation } from "@gateway/core/snapshot/generation.ts";
import { authProblems } from "../config/rules.ts";
import { activate } from "../control/activation.ts";
import { objectLimits } from "../control/objectLimits.ts";
import { openConfig } from "../generation.ts";
import type { StartOptions } from "../roles.ts";
import { startErrorText } from "../running.ts";
import type { VerifiedSnapshot } from "./verify.ts";

export interface OpenedSnapshot {
  readonly generation: Generation;
  readonly history: HistorySetting | undefined;
}

export type OpenSnapshot = (
  snapshot: Pick<VerifiedSnapshot, "bytes">,
  revision: string,
) => Promise<Result<OpenedSnapshot, readonly string[]>>;

/** Answers every reason why the snapshot can not be active here, with nothing left open. */
export function snapshotOpener(options: StartOptions, capacity: Capacity): OpenSnapshot {
  const { config, document, host, contents, environment } = options;
  const { judge, resolves } = objectLimits(config, document);
  return async ({ bytes }, revision) => {
    const file = fileOf(objectsOfBody(bytes));
    const faults = judgeFile(file, judge);
    if (faults.length > 0) return err(faults.map(lineOf));
    const activated = activate({ bytes }, { environment, resolves });
    if (!activated.ok) return err(activated.error.map(startErrorText));
    const { config: snapshot, history } = activated.value;
    // This process's own listeners would take these users' passwords.
    const exposed = authProblems(config.gateway, snapshot.auth?.provider);
    if (exposed.length > 0) {
      return err(exposed.map(({ path, reason }) => `${textOf(path)}: ${reason}`));
    }
    const opened = await openConfig(snapshot, { host, capacity, contents });
    if (!opened.ok) return err(opened.error.map(startErrorText));
    return ok({ generation: opened.value.compile(revision), history });
  };
}
