/**
 * The first configuration of a process: what the database holds, or, when it holds none, what the
 * file says. After that the process follows the database.
 */
import type { ConfigRefusal } from "@gateway/control/config/configuration.ts";
import type { OwnedConfiguration } from "@gateway/control/config/open.ts";
import { revisionText } from "@gateway/contract/revision.ts";
import type { Capacity } from "@gateway/core/port/capacity.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Generations } from "@gateway/core/snapshot/generation.ts";
import { snapshotConfigOf, type GatewayConfig } from "../config/schema.ts";
import { openBackends, openConfig } from "../generation/openConfig.ts";
import type { StartOptions } from "../starting.ts";
import type { StartError } from "../starting.ts";
import { activate } from "../judge/activation.ts";
import { follow, type Following } from "./follow.ts";
import { Judge } from "../judge/judge.ts";
import type { OpenBackends } from "../generation/openBackends.ts";

export interface FirstConfigParts {
  readonly configuration: OwnedConfiguration;
  readonly generations: Generations;
  readonly capacity: Capacity;
}

/** Whom the log of revisions names for what came from the file. */
export const fileAuthor = { by: "file", address: undefined };

/**
 * Fills an empty database from the file, once the file's clusters are open: a file that does not
 * work must not become the truth. A database that holds a configuration wins, even one that can not
 * be opened. That is no failure of the start, because the admin API is the way to mend it.
 */
export async function startConfig(
  options: StartOptions,
  owned: FirstConfigParts,
): Promise<Result<Following, readonly StartError[]>> {
  const { configuration } = owned;
  const parts = { ...owned, backends: openBackends(options) };
  if (configuration.current() === undefined) {
    const seeded = await seed(options, parts);
    if (!seeded.ok) return seeded;
    if (seeded.value) return ok(following(options, parts));
  } else {
    await logDifferences(options, configuration);
  }
  const started = following(options, parts);
  await started.settled();
  return ok(started);
}

interface OpenFirst extends FirstConfigParts {
  readonly backends: OpenBackends;
}

/** False when another replica filled the database at the same moment. */
async function seed(
  options: StartOptions,
  { configuration, generations, capacity, backends }: OpenFirst,
): Promise<Result<boolean, readonly StartError[]>> {
  const { config, document, host } = options;
  const redaction = config.gateway.workerApi?.history?.redaction;
  const snapshot = snapshotConfigOf(config);
  const opened = await openConfig(snapshot, { host, capacity, backends, redaction });
  if (!opened.ok) return opened;
  const written = await configuration.seed(document, fileAuthor);
  if (written.ok && written.value.changed) {
    await generations.swap(opened.value.compile(revisionText(written.value.revision)));
    return ok(true);
  }
  await opened.value.discard();
  return written.ok ? ok(false) : err(startErrors(refusalLines(written.error)));
}

function startErrors(lines: readonly string[]): readonly StartError[] {
  return lines.map((reason) => ({ part: "config", reason }));
}

function following(
  { config, document, host, environment }: StartOptions,
  { configuration, generations, capacity, backends }: OpenFirst,
): Following {
  const judge = new Judge(host);
  const active = generations.active === undefined ? undefined : configuration.current();
  const { gateway } = config;
  return follow(
    {
      configuration,
      generations,
      host,
      open: async (built) => {
        const { bytes } = built;
        const input = { bytes, gateway, document, environment, foreign: false };
        const activated = await activate(input, judge);
        if (!activated.ok) return err(startErrors(activated.error));
        const { config: read, history } = activated.value;
        const redaction = history?.redaction;
        const opened = await openConfig(read, { host, capacity, backends, redaction });
        return opened.ok ? ok(opened.value.compile(revisionText(built.revision))) : opened;
      },
    },
    active,
  );
}

/** The database is the truth. Somebody who edits the file should learn that nobody reads it. */
async function logDifferences(
  { document, host }: StartOptions,
  configuration: OwnedConfiguration,
): Promise<void> {
  const compared = await configuration.compare(document);
  if (!compared.ok) {
    const reason = refusalLines(compared.error).join("; ");
    return host.log.write("warn", "config.fileRefused", { reason });
  }
  if (compared.value.length === 0) return;
  host.log.write("warn", "config.fileDiffers", {
    objects: compared.value.map(({ object }) => `${object.kind}/${object.name}`).join(", "),
    advice:
      "the database is used; `gateway config diff` shows and `gateway config apply` takes the file's",
  });
}

/**
 * For SIGHUP: where nothing but the file holds the configuration, the file is read again. It answers what was refused, or
 * nothing when the file is what is served now. Undefined where a database holds the configuration.
 */
export function reloadFrom(
  { persistence }: GatewayConfig,
  configuration: Pick<OwnedConfiguration, "import">,
): ((file: unknown) => Promise<readonly string[]>) | undefined {
  if (persistence.type !== "inMemory") return undefined;
  return async (file) => {
    const taken = await configuration.import(file, fileAuthor);
    return taken.ok ? [] : refusalLines(taken.error);
  };
}

/** What the configuration refused, as lines for a terminal. */
export function refusalLines(refusal: ConfigRefusal): readonly string[] {
  switch (refusal.code) {
    case "invalid":
      return refusal.faults.map(({ path, reason }) =>
        path === "" ? reason : `${path}: ${reason}`,
      );
    case "lostUpdate":
      return ["somebody else changed the configuration at the same time; run it again"];
    case "missing":
      return ["there is no such object"];
    case "unavailable":
      return [`the database is not available (${refusal.detail})`];
  }
}
