/**
 * Joins a written object with the stored one: `{set: true}` takes the secret that is there.
 *
 * A secret is kept only while it goes where it went before. An editor who may not read a password
 * could otherwise point the object at a server of their own and have it sent there.
 */
import { canonicalJson, type Json } from "@gateway/contract/canonical.ts";
import { fileOf, type ConfigObject } from "../file.ts";
import type { ConfigFault } from "../configuration.ts";
import { valueAt, type Path } from "../keys.ts";
import { fileJsonSchema } from "../fileJsonSchema.ts";
import { textOf } from "../check/report.ts";
import { hideSecrets, isSetMark, mapObjectSecrets, referenceIn } from "./object.ts";
import { valuesUnder } from "./paths.ts";
import { referenceAllowed } from "./references.ts";

/** Keys that say where an object's secrets are sent. */
const addressKeys: ReadonlySet<string> = new Set([
  "endpoint",
  "uri",
  "url",
  "driver",
  // A driver's own words for where it connects to: an account, a host.
  "dbKwargs",
  "databasePath",
  "tls",
  // Of a directory or a policy server: who may read what is sent there.
  "startTls",
  "allowCleartext",
  "caFile",
  "tokenEndpoint",
]);

/** Patterns of `gateway.secrets.allow`; `any` where nothing is written, only compared. */
export type AllowedReferences = readonly string[] | "any";

/** A written object with what it keeps of the stored one. */
export interface JoinedObject {
  /** Without `{set: true}` unless there are faults. */
  readonly body: Json;
  readonly faults: readonly ConfigFault[];
}

/**
 * The written object with the secrets it keeps from `stored`. References have to be covered by
 * `refsAllowed`, or stand already where they are written, under the same rule as a kept secret.
 */
export function keepSecrets(
  written: ConfigObject,
  stored: Json | undefined,
  refsAllowed: AllowedReferences,
): JoinedObject {
  const before = stored === undefined ? undefined : { ...written, body: stored };
  const moved = before === undefined ? undefined : movedAddress(before, written);
  const storedFile = before === undefined ? {} : fileOf([before]);
  const faults: ConfigFault[] = [];
  const refuse = (path: Path, reason: string): void => {
    faults.push({ path: textOf(path), reason });
  };

  const body = mapObjectSecrets(written, (value, path, described) => {
    if (!described) return value;
    const kept = valueAt(storedFile, path) as Json | undefined;
    if (isSetMark(value)) {
      if (kept === undefined) refuse(path, "there is no stored secret to keep");
      else if (moved !== undefined) refuse(path, `must be given again, because ${moved} changes`);
      else return kept;
      return value;
    }
    const reference = referenceIn(value);
    if (reference === undefined || refsAllowed === "any") return value;
    if (referenceAllowed(reference, refsAllowed)) return value;
    const same = kept !== undefined && referenceIn(kept) === reference;
    if (!same || moved !== undefined) refuse(path, refusedReference(refsAllowed));
    return value;
  });
  return { body, faults };
}

/** The first address that differs between the two, in words; undefined when none does. */
function movedAddress(before: ConfigObject, after: ConfigObject): string | undefined {
  const old = addresses(before);
  const now = addresses(after);
  const paths = [...new Set([...old.keys(), ...now.keys()])];
  return paths.find((path) => old.get(path) !== now.get(path));
}

/** Secrets are hidden before the comparison: a new private key is no new address. */
function addresses(object: ConfigObject): ReadonlyMap<string, string> {
  const file = fileOf([{ ...object, body: hideSecrets(object) }]);
  const found = valuesUnder(fileJsonSchema(), file, addressKeys);
  return new Map(found.map(({ path, value }) => [textOf(path), canonicalJson(value)]));
}

function refusedReference(refsAllowed: readonly string[]): string {
  const shown = refsAllowed.length === 0 ? "none is" : `allowed are ${refsAllowed.join(", ")}`;
  return `this reference is not allowed here; ${shown}`;
}
