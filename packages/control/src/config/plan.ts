/** What a write makes of the configuration, or every reason to refuse it. Reads no store and no clock. */
import type { Json } from "@gateway/contract/canonical.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { keepSecrets, type AllowedReferences } from "./secret/keep.ts";
import type { DocumentName } from "../store/store.ts";
import type { Plan } from "./change.ts";
import type { ConfigFault, ConfigRefusal, Expected, JudgeConfig } from "./configuration.ts";
import { byKey } from "./difference/difference.ts";
import {
  fileOf,
  isMap,
  keyOf,
  mapObjects,
  objectsIn,
  pathOf,
  withoutLocal,
  type ConfigObject,
} from "./file.ts";
import { jsonOf } from "./difference/json.ts";
import { judgeFile, judgeObjects, judgePlace } from "./check/judge.ts";
import type { Loaded } from "./state/loaded.ts";

export interface Rules {
  readonly judge: JudgeConfig;
  readonly refsAllowed: AllowedReferences;
}

type Objects = ReadonlyMap<string, ConfigObject>;
type Planned = Result<Plan, ConfigRefusal>;

/** One object put in place, new or instead of the one that is there. */
export function planPut(
  object: DocumentName,
  input: unknown,
  expected: Expected,
  rules: Rules,
): (now: Loaded) => Planned {
  return (now) => {
    const version = now.objects.get(keyOf(object))?.version;
    const wanted = expected === "absent" ? undefined : expected.version;
    if (version !== wanted) return err({ code: "lostUpdate", current: version });
    const objects = objectsWith(now.objects, object, input, rules);
    if (!objects.ok) return invalid(objects.error);
    const put = objects.value.get(keyOf(object));
    if (put === undefined) throw new Error("an object that was put is not there");
    const step = { from: now.objects, put };
    return ok({ objects: objects.value, whole: false, step, ...wordsOf("put", object) });
  };
}

/** One object taken away; refused while another refers to it, with each place. */
export function planRemove(
  object: DocumentName,
  expected: Expected,
  { judge }: Rules,
): (now: Loaded) => Planned {
  return (now) => {
    const version = now.objects.get(keyOf(object))?.version;
    if (version === undefined) return err({ code: "missing" });
    if (expected === "absent" || expected.version !== version) {
      return err({ code: "lostUpdate", current: version });
    }
    const objects = new Map(now.objects);
    objects.delete(keyOf(object));
    const faults = judgeObjects(objects, judge);
    if (faults.length > 0) return invalid(faults);
    return ok({ objects, whole: false, ...wordsOf("delete", object) });
  };
}

/** The whole configuration replaced by a file's. */
export function planFile(
  file: unknown,
  words: Pick<Plan, "action" | "target" | "summary">,
  rules: Rules,
): (now: Loaded) => Planned {
  return (now) => {
    const objects = objectsOfFile(file, now.objects, rules);
    return objects.ok
      ? ok({ objects: objects.value, whole: true, ...words })
      : invalid(objects.error);
  };
}

/** The configuration with one object put, or every fault of that. */
export function objectsWith(
  now: Objects,
  { kind, name }: DocumentName,
  input: unknown,
  rules: Rules,
): Result<Objects, readonly ConfigFault[]> {
  const json = jsonOf(input, pathOf({ kind, name }));
  if (!json.ok) return json;
  const written: ConfigObject = { kind, name, body: json.value };
  const misplaced = judgePlace(written);
  if (misplaced.length > 0) return err(misplaced);
  const kept = keepSecrets(written, now.get(keyOf(written))?.body, rules.refsAllowed);
  const objects = new Map(now);
  const put = { ...written, body: kept.body };
  objects.set(keyOf(put), put);
  const faults = joined(kept.faults, judgeObjects(objects, rules.judge, { from: now, put }));
  return faults.length > 0 ? err(faults) : ok(objects);
}

/** The objects of a file, with the secrets it keeps from `now`, or every fault of it. */
export function objectsOfFile(
  input: unknown,
  now: Objects,
  { judge, refsAllowed }: Rules,
): Result<Objects, readonly ConfigFault[]> {
  const json = jsonOf(input, []);
  if (!json.ok) return json;
  if (!isMap(json.value)) return err([{ path: "", reason: "must be a map of keys" }]);
  const keptFaults: ConfigFault[] = [];
  const file = mapObjects(withoutLocal(json.value), (object): Json => {
    const kept = keepSecrets(object, now.get(keyOf(object))?.body, refsAllowed);
    keptFaults.push(...kept.faults);
    return kept.body;
  });
  const objects = byKey(objectsIn(file));
  // The process judges only what enters the snapshot: the file's `gateway` is not the one it runs with.
  const { leases = false } = judge;
  const judged = () => judge(fileOf(objects.values()));
  const judgeSnapshot: JudgeConfig = Object.assign(judged, { leases });
  const faults = joined(keptFaults, judgeFile(file, judgeSnapshot));
  return faults.length > 0 ? err(faults) : ok(objects);
}

/** A place whose secret could not be kept also has the wrong shape. It is reported once. */
function joined(
  kept: readonly ConfigFault[],
  shape: readonly ConfigFault[],
): readonly ConfigFault[] {
  const inside = (path: string): boolean =>
    kept.some(
      (fault) =>
        path === fault.path ||
        path.startsWith(`${fault.path}.`) ||
        path.startsWith(`${fault.path}[`),
    );
  return [...kept, ...shape.filter(({ path }) => !inside(path))];
}

function wordsOf(
  action: "put" | "delete",
  object: DocumentName,
): Pick<Plan, "action" | "target" | "summary"> {
  const { kind, name } = object;
  return { action, target: keyOf(object), summary: `${action} ${kind} ${name}` };
}

function invalid(faults: readonly ConfigFault[]): Planned {
  return err({ code: "invalid", faults });
}
