/** From a built snapshot to the parsed configuration that this process runs on, secrets in place. */
import {
  fileSchema,
  type HistorySetting,
  type SnapshotConfig,
} from "@gateway/control/config/objects.ts";
import type { Built } from "@gateway/control/config/configuration.ts";
import { fileOf } from "@gateway/control/config/file.ts";
import type { JsonSchema } from "@gateway/control/config/keys.ts";
import { lineOf } from "@gateway/control/config/report.ts";
import { objectsOfBody } from "@gateway/control/snapshot/build.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { z } from "zod";
import { resolveSecrets, type Environment } from "../config/secrets.ts";
import type { StartError } from "../running.ts";

export interface Activated {
  readonly config: SnapshotConfig;
  readonly history: HistorySetting | undefined;
}

export interface ActivationParts {
  readonly environment: Environment;
  /** Whether this process may resolve a reference. */
  readonly resolves: (reference: string) => boolean;
}

/** Parses a snapshot and resolves its references, or says what can not be had. */
export function activate(
  built: Pick<Built, "bytes">,
  { environment, resolves }: ActivationParts,
): Result<Activated, readonly StartError[]> {
  const file = fileOf(objectsOfBody(built.bytes));
  const resolved = resolveSecrets(file, environment, { schema: fileJsonSchema(), resolves });
  if (!resolved.ok) return err(resolved.error.map((problem) => configError(lineOf(problem))));
  const parsed = fileSchema.safeParse(resolved.value);
  if (!parsed.success) {
    return err(
      parsed.error.issues.map(({ path, message }) => configError(`${path.join(".")}: ${message}`)),
    );
  }
  const { gateway, scripts: _none, ...config } = parsed.data;
  return ok({ config, history: gateway?.workerApi?.history });
}

function configError(reason: string): StartError {
  return { part: "config", reason };
}

let jsonSchema: JsonSchema | undefined;

function fileJsonSchema(): JsonSchema {
  jsonSchema ??= z.toJSONSchema(fileSchema, { io: "input", unrepresentable: "any" }) as JsonSchema;
  return jsonSchema;
}
