/**
 * Everything that is wrong with a configuration as a whole: its shape, the references between its
 * objects, the rules that span them, and what the process adds.
 *
 * No fault repeats a value: it may be a secret in the wrong place.
 */
import { checkSnapshot } from "@gateway/core/snapshot/check.ts";
import type { ConfigFault, JudgeConfig } from "../configuration.ts";
import {
  fileOf,
  isMap,
  keyOf,
  pathOf,
  routingKeys,
  settingNames,
  type ConfigObject,
  type JsonMap,
} from "../file.ts";
import { nearest } from "./nearest.ts";
import { fileJsonSchema } from "../fileJsonSchema.ts";
import { fileSchema, type FileConfig } from "../objects.ts";
import { faultless, type Objects, type Step } from "./known.ts";
import { clusterOf, parsedOf } from "./parsed.ts";
import { issueText } from "./reason.ts";
import { problemsOf, textOf } from "./report.ts";
import { nameOnlyAuth, slotsFreedBy, unlimitedGroups } from "./rules.ts";

type Cluster = FileConfig["clusters"][string];

/** Every fault of a file; empty when it may become a snapshot. The file holds its secrets. */
export function judgeFile(file: JsonMap, judge: JudgeConfig): readonly ConfigFault[] {
  const parsed = fileSchema.safeParse(file, { error: issueText });
  if (!parsed.success) return problemsOf(parsed.error.issues, fileJsonSchema(), file);
  return judgeMeaning(parsed.data, file, judge);
}

/**
 * `judgeFile` of the file that holds these objects and nothing else; only those it has not seen are
 * parsed. The objects stay as they are from here on.
 */
export function judgeObjects(
  objects: Objects,
  judge: JudgeConfig,
  step?: Step,
): readonly ConfigFault[] {
  if (step !== undefined && isRightAlone(step, judge)) {
    faultless.set(objects, judge);
    return [];
  }
  const { file, config } = parsedOf(objects, step);
  const faults = config === undefined ? judgeFile(file, judge) : judgeMeaning(config, file, judge);
  if (faults.length === 0) faultless.set(objects, judge);
  return faults;
}

/**
 * True when the configuration had no fault and a cluster is replaced by a valid one that all other
 * objects see as the same. Faults are searched in the whole configuration, which lists them in order.
 */
function isRightAlone({ from, put }: Step, judge: JudgeConfig): boolean {
  if (faultless.get(from) !== judge) return false;
  const before = from.get(keyOf(put));
  const [old, now] = [before && clusterOf(before), clusterOf(put)];
  if (old === undefined || now === undefined || !sameBeside(old, now)) return false;
  return judge(fileOf([put])).length === 0;
}

/** Whether no rule across objects could tell the two apart. */
function sameBeside(a: Cluster, b: Cluster): boolean {
  const same = a.engine === b.engine && a.enabled === b.enabled;
  return same && a.queryAuth?.type === b.queryAuth?.type && slotsFreedBy(a) === slotsFreedBy(b);
}

/** What the parts mean together. One changed object may break that anywhere. */
function judgeMeaning(
  config: FileConfig,
  file: JsonMap,
  judge: JudgeConfig,
): readonly ConfigFault[] {
  const leased = judge.leases === true ? unlimitedGroups(config) : [];
  const meaning = [...checkSnapshot(config), ...nameOnlyAuth(config), ...leased];
  return [...meaning.map(({ path, reason }) => ({ path: textOf(path), reason })), ...judge(file)];
}

/** Faults that the form of the file can not express: an object without a place in it, or in the place of another. */
export function judgePlace(object: ConfigObject): readonly ConfigFault[] {
  switch (object.kind) {
    case "cluster":
    case "clusterGroup":
    case "script":
      return [];
    case "setting":
      return settingNames.some((name) => name === object.name)
        ? []
        : [
            {
              path: textOf(pathOf(object)),
              reason: unknownText("setting", object.name, settingNames),
            },
          ];
    case "routing":
      return judgeRouting(object);
  }
}

function judgeRouting({ name, body }: ConfigObject): readonly ConfigFault[] {
  if (name !== "routing") return [{ path: "routers", reason: "there is one such object, routing" }];
  if (!isMap(body)) return [{ path: "routers", reason: "must be a map of keys with the routers" }];
  return Object.keys(body)
    .filter((key) => !routingKeys.includes(key))
    .map((key) => ({ path: textOf([key]), reason: unknownText("key", key, routingKeys) }));
}

function unknownText(what: string, word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  const hint = near === undefined ? `; known: ${known.join(", ")}` : `; did you mean ${near}?`;
  return `unknown ${what}${hint}`;
}
