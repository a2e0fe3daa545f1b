/** Opens a cluster for a moment, for the admin API's connection test. Nothing of it stays open. */
import { clusterSchema } from "@gateway/control/config/objects.ts";
import type { ControlDeps } from "@gateway/control/deps.ts";
import { err, ok } from "@gateway/core/result.ts";
import { resolveSecrets } from "../config/secrets.ts";
import { openCluster } from "../generation/openConfig.ts";
import type { StartOptions } from "../starting.ts";
import { startErrorText } from "../starting.ts";
import { objectLimits } from "../judge/objectLimits.ts";
import type { JsonSchema } from "@gateway/control/config/keys.ts";
import { z } from "zod";

/** A server that accepts and never answers must not hold the caller. */
const testMsMax = 15_000;

/** Refuses with a line for the operator; it holds no secret. */
export function clusterTest(options: StartOptions): NonNullable<ControlDeps["testCluster"]> {
  const { config, document, host, environment } = options;
  const { resolves } = objectLimits(config, document);
  const schema = z.toJSONSchema(clusterSchema, {
    io: "input",
    unrepresentable: "any",
  }) as JsonSchema;
  return async (name, body) => {
    const resolved = resolveSecrets(body, environment, { schema, resolves });
    if (!resolved.ok) return err(resolved.error.map(({ reason }) => reason).join("; "));
    const parsed = clusterSchema.safeParse(resolved.value);
    if (!parsed.success) return err(parsed.error.issues.map(({ message }) => message).join("; "));
    const fromMs = host.clock.nowMs();
    const opened = await openCluster(name, parsed.data, { host, contents: { kind: "none" } });
    if (!opened.ok) return err(startErrorText(opened.error));
    await using backend = opened.value;
    const deadline = new AbortController();
    using _limit = host.clock.timer(testMsMax, () => deadline.abort());
    const health = await backend.probe(deadline.signal);
    if (health !== "healthy") return err("the cluster opened and did not answer");
    return ok({ tookMs: Math.round(host.clock.nowMs() - fromMs) });
  };
}
