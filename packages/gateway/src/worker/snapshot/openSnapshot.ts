/** From a verified snapshot to a generation: judged as strictly as a control plane judges what is written, then opened. */
import type { HistorySetting } from "@gateway/control/config/objects.ts";
import type { Capacity } from "@gateway/core/port/capacity.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Generation } from "@gateway/core/snapshot/generation.ts";
import { activate } from "../../judge/activation.ts";
import { Judge } from "../../judge/judge.ts";
import { openBackends, openConfig } from "../../generation/openConfig.ts";
import type { StartOptions } from "../../starting.ts";
import { startErrorText } from "../../starting.ts";
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
export function snapshotOpener(
  { config, document, host, contents, environment }: StartOptions,
  capacity: Pick<Capacity, "wake">,
): OpenSnapshot {
  const { gateway } = config;
  const backends = openBackends({ host, contents });
  const judge = new Judge(host);
  return async ({ bytes }, revision) => {
    const input = { bytes, gateway, document, environment, foreign: true };
    const activated = await activate(input, judge);
    if (!activated.ok) return activated;
    const { config: snapshot, history } = activated.value;
    const redaction = history?.redaction;
    const opened = await openConfig(snapshot, { host, capacity, backends, redaction });
    if (!opened.ok) return err(opened.error.map(startErrorText));
    return ok({ generation: opened.value.compile(revision), history });
  };
}
