/**
 * Who this worker was in its previous life: id and token of the last registration, sealed in the
 * state folder. A start proves with it that the old instance has ended, and takes over its name at
 * once instead of waiting until it is offline.
 */
import { predecessorProofOf } from "@gateway/control/worker/registry/predecessor.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { z } from "zod";
import { jsonIn, type PresenceParts, type Registration } from "../link/presence.ts";
import { seal, unseal } from "./sealing.ts";
import type { StateDir } from "./stateDir.ts";

export interface InstanceParts {
  readonly host: Pick<Host, "log" | "randomBytes">;
  readonly dir: Pick<StateDir, "read" | "write">;
  /** Current, then previous. The current one seals. */
  readonly secrets: readonly [Secret, ...Secret[]];
}

/** What presence needs of it; `settled` resolves when the last registration is on disk. */
export interface Instance extends Pick<PresenceParts, "predecessorProof" | "registered"> {
  settled(): Promise<void>;
}

export const instanceFile = "instance";

const sealed = { purpose: "instance", context: "" } as const;
const instanceBytesMax = 16_384;
const registrationSchema = z.looseObject({
  instanceId: z.string().min(1),
  instanceToken: z.string().min(1),
});

/** Without a state folder nothing is remembered. */
export const noInstance: Instance = {
  predecessorProof: () => undefined,
  registered: () => {},
  settled: () => Promise.resolve(),
};

/** Reads the previous registration. One that can not be read counts as none: the old name then becomes free after a while. */
export async function openInstance(parts: InstanceParts): Promise<Instance> {
  const predecessor = await readRegistration(parts);
  let writing = Promise.resolve();

  async function write(registration: Registration): Promise<void> {
    const { dir, secrets, host } = parts;
    const bytes = Buffer.from(JSON.stringify(registration), "utf8");
    const wrote = await dir.write(instanceFile, seal(bytes, secrets[0], sealed, host));
    if (!wrote.ok) host.log.write("warn", "worker.instanceNotKept", { reason: wrote.error });
  }

  return {
    predecessorProof: (instanceId) => predecessor && predecessorProofOf(predecessor, instanceId),
    registered: (registration) => {
      writing = writing.then(() => write(registration));
    },
    settled: () => writing,
  };
}

async function readRegistration(parts: InstanceParts): Promise<Registration | undefined> {
  const file = await parts.dir.read(instanceFile, instanceBytesMax);
  if (!file.ok || file.value === undefined) return undefined;
  const opened = unseal(file.value, parts.secrets, sealed);
  const read = registrationSchema.safeParse(opened.ok ? jsonIn(opened.value.bytes) : undefined);
  return read.success ? read.data : undefined;
}
