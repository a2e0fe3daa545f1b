/**
 * What a snapshot is to this process: its configuration parsed and with its secrets in place, or every
 * reason why it can not be that. Takes time with the size of the snapshot and touches nothing but
 * files of secrets; where it runs is activation.ts's.
 */
import { judgeFile } from "@gateway/control/config/check/judge.ts";
import { fileOf, type JsonMap } from "@gateway/control/config/file.ts";
import { fileJsonSchema } from "@gateway/control/config/fileJsonSchema.ts";
import {
  fileSchema,
  type HistorySetting,
  type SnapshotConfig,
} from "@gateway/control/config/objects.ts";
import { lineOf, textOf } from "@gateway/control/config/check/report.ts";
import { objectsOfBody } from "@gateway/control/config/snapshot/build.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { authProblems } from "../config/rules.ts";
import type { GatewayConfig } from "../config/schema.ts";
import { resolveSecrets, type Environment } from "../config/secrets.ts";
import { objectLimits, type ObjectLimits } from "./objectLimits.ts";

/** Plain values only: it crosses to a thread. */
export interface JudgeInput {
  /** Canonical JSON of the body. */
  readonly bytes: Uint8Array;
  readonly gateway: Pick<GatewayConfig, "secrets" | "files" | "frontends" | "adbc">;
  /** The config file as written. */
  readonly document: unknown;
  readonly environment: Environment;
  /** True for a snapshot from elsewhere: it is judged as strictly as a write. A control plane has already judged its own. */
  readonly foreign: boolean;
}

export interface Activated {
  readonly config: SnapshotConfig;
  readonly history: HistorySetting | undefined;
}

/** The answer, or lines for the operator; none holds a secret. */
export function judged(input: JudgeInput): Result<Activated, readonly string[]> {
  const limits = objectLimits(input, input.document);
  const file = fileOf(objectsOfBody(input.bytes));
  const faults = input.foreign ? foreignFaults(file, input.gateway, limits) : [];
  if (faults.length > 0) return err(faults);
  const rules = { schema: fileJsonSchema(), resolves: limits.resolves };
  const resolved = resolveSecrets(file, input.environment, rules);
  if (!resolved.ok) return err(resolved.error.map(lineOf));
  const parsed = fileSchema.safeParse(resolved.value);
  if (!parsed.success) {
    return err(parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`));
  }
  const { gateway, ...config } = parsed.data;
  return ok({ config, history: gateway?.workerApi?.history });
}

function foreignFaults(
  file: JsonMap,
  gateway: JudgeInput["gateway"],
  { judge }: ObjectLimits,
): readonly string[] {
  const faults = judgeFile(file, judge).map(lineOf);
  if (faults.length > 0) return faults;
  const auth = file["auth"];
  const provider = fileSchema.shape.auth.safeParse(auth).data?.provider;
  // These users would send their passwords to this process's own listeners.
  return authProblems(gateway, provider).map(({ path, reason }) => `${textOf(path)}: ${reason}`);
}
