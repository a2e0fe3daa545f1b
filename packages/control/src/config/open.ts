/**
 * Opens the configuration over a store: the one implementation of the port in configuration.ts, the
 * same in a container, in a function and over memory.
 *
 * It joins the parts: what is served (live.ts), what a write makes of it (plan.ts), how it gets into
 * the store (change.ts).
 */
import type { Revision } from "@gateway/contract/revision.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { hideSecrets } from "./secret/object.ts";
import { secretRefsAllowedDefault } from "./secret/references.ts";
import { objectsOfBody } from "./snapshot/build.ts";
import { Changes, refusalOf, type Changed, type Plan, type Planner } from "./change.ts";
import type {
  Author,
  ConfigRefusal,
  Configuration,
  JudgeConfig,
  ObjectView,
  Written,
} from "./configuration.ts";
import { byKey, differencesOf } from "./difference/difference.ts";
import { fileOf, keyOf, type ConfigObject } from "./file.ts";
import type { ScriptSandboxes } from "@gateway/core/script/scripts.ts";
import type * as Judgement from "./check/judge.ts";
import { scriptFaults, scriptsIn } from "./check/scripts.ts";
import { missingKeys, rekey } from "./state/keyCare.ts";
import { Live, type LiveParts } from "./state/live.ts";
import { loadConfig, openRevision, type LoadedObject, type LoadRefusal } from "./state/loaded.ts";
import type * as Planning from "./plan.ts";
import type { Rules } from "./plan.ts";

export interface ConfigurationParts extends LiveParts {
  /** Finds faults that only this process knows, in the whole configuration in the form of the file. */
  readonly judge?: JudgeConfig;
  /** Compiles scripts that are written; without it they are compiled by whoever activates them. */
  readonly scripts?: ScriptSandboxes | undefined;
  /** `gateway.secrets.allow`: references that written objects may hold. */
  readonly secretRefsAllowed?: readonly string[];
  /** False where nothing runs between requests (a function): callers `refresh` themselves. Default true. */
  readonly follow?: boolean;
  /**
   * `asked`: what is served is judged with the first call of `judged`, write or comparison, and the shapes of all objects
   * are loaded for that; until then `freshness` knows no misfit. Default `opened`.
   */
  readonly judgedWhen?: "opened" | "asked";
}

/** A configuration with what only its own process may do. */
export interface OwnedConfiguration extends Configuration {
  /**
   * Fills an empty store from the snapshot part of a file, in one change. `changed` is false when the
   * store is not empty. A file may use references that editors may not: pass them here.
   */
  seed(
    file: unknown,
    author: Author,
    secretRefsAllowed?: readonly string[],
  ): Promise<Result<Written, ConfigRefusal>>;
  /** Seals everything under the current key, `limit` rows of a sort at a time; answers how many rows. */
  rekey(limit: number): Promise<Result<number, LoadRefusal>>;
}

export type OpenConfigurationRefusal =
  | LoadRefusal
  /** Rows are sealed by keys that are not configured. */
  | { readonly code: "missingKeys"; readonly keyIds: readonly string[] };

/** Reads what the store holds. Refuses while a row names a key that is not in `keys`. */
export async function openConfiguration(
  parts: ConfigurationParts,
): Promise<Result<OwnedConfiguration, OpenConfigurationRefusal>> {
  const { store, keys } = parts;
  // At the same time, because each takes a round trip or more; what can not be opened is said after what is missing.
  const [missing, loaded] = await Promise.all([
    missingKeys(store.config, keys),
    loadConfig(store.config, keys),
  ]);
  if (!missing.ok) return missing;
  if (missing.value.length > 0) return err({ code: "missingKeys", keyIds: missing.value });
  if (!loaded.ok) return loaded;

  const judge = parts.judge ?? (() => []);
  const live = new Live(parts, loaded.value);
  const judging = judgingOnce(live, judge);
  if (parts.judgedWhen !== "asked") await judging();
  if (parts.follow !== false) live.follow();
  const changes = new Changes(parts, live);
  const refsAllowed = parts.secretRefsAllowed ?? secretRefsAllowedDefault;
  const opened = { parts, live, changes, judging, rules: { judge, refsAllowed } };
  return ok({
    ...readsOf(opened),
    ...writesOf(opened),
    ...logOf(opened),
    rekey: (limit) => rekey(store.config, keys, limit),
    [Symbol.asyncDispose]: () => live[Symbol.asyncDispose](),
  });
}

interface Opened {
  readonly parts: ConfigurationParts;
  readonly live: Live;
  readonly changes: Changes;
  readonly judging: () => Promise<Judging>;
  readonly rules: Rules;
}

/** What plans and judges. Loaded apart: it brings the shapes of all objects, which a worker's question does not need. */
type Judging = typeof Planning & typeof Judgement;

/** From the first call on, what is served is judged as well. */
function judgingOnce(live: Live, judge: JudgeConfig): () => Promise<Judging> {
  const load = async (): Promise<Judging> => {
    const [plan, check] = await Promise.all([import("./plan.ts"), import("./check/judge.ts")]);
    live.judgeWith((objects) => check.judgeObjects(objects, judge));
    return { ...plan, ...check };
  };
  let loading: Promise<Judging> | undefined;
  return () => (loading ??= load());
}

type Reads = Pick<
  Configuration,
  | "current"
  | "freshness"
  | "onChange"
  | "refresh"
  | "judged"
  | "list"
  | "get"
  | "validate"
  | "export"
  | "compare"
>;

function readsOf({ live, judging, rules, parts: { scripts } }: Opened): Reads {
  return {
    current: () => live.loaded.built,
    freshness: () => live.freshness(),
    onChange: (listener) => live.onChange(listener),
    refresh: async () => {
      await live.refresh();
    },
    judged: async () => {
      await judging();
    },
    list: (kind) =>
      [...live.loaded.objects.values()]
        .filter((object) => object.kind === kind)
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(viewOf),
    get: (object) => {
      const found = live.loaded.objects.get(keyOf(object));
      return found === undefined ? undefined : viewOf(found);
    },
    validate: async (object, body) => {
      const { objectsOfFile, objectsWith } = await judging();
      const now = live.loaded.objects;
      const objects =
        object === undefined
          ? objectsOfFile(body, now, rules)
          : objectsWith(now, object, body, rules);
      if (!objects.ok) return objects.error;
      return scriptFaults(scripts, scriptsIn(object, body));
    },
    export: () => fileOf([...live.loaded.objects.values()].map(hidden)),
    compare: async (file) => {
      const { objectsOfFile } = await judging();
      const now = live.loaded.objects;
      const objects = objectsOfFile(file, now, { ...rules, refsAllowed: "any" });
      if (!objects.ok) return err({ code: "invalid", faults: objects.error });
      return ok(differencesOf(now, objects.value));
    },
  };
}

type Writes = Pick<OwnedConfiguration, "put" | "remove" | "import" | "newEpoch" | "seed">;

function writesOf({ live, changes, judging, rules, parts: { scripts } }: Opened): Writes {
  return {
    put: async (object, body, expected, author) => {
      const faults = await scriptFaults(scripts, scriptsIn(object, body));
      if (faults.length > 0) return err({ code: "invalid", faults });
      const { planPut } = await judging();
      const made = await changes.make(author, planPut(object, body, expected, rules));
      if (!made.ok) return made;
      const put = made.value.loaded.objects.get(keyOf(object));
      if (put === undefined) throw new Error("an object that was put is not there");
      return ok({ ...writtenOf(made.value), view: viewOf(put) });
    },
    remove: async (object, expected, author) => {
      const { planRemove } = await judging();
      return written(await changes.make(author, planRemove(object, expected, rules)));
    },
    import: async (file, author) => {
      const faults = await scriptFaults(scripts, scriptsIn(undefined, file));
      if (faults.length > 0) return err({ code: "invalid", faults });
      const { planFile } = await judging();
      return written(await changes.make(author, planFile(file, wholeWords("import"), rules)));
    },
    newEpoch: async (author) => written(await changes.newEpoch(author, planEpoch)),
    seed: async (file, author, secretRefsAllowed) => {
      const refsAllowed = secretRefsAllowed ?? rules.refsAllowed;
      const { planFile } = await judging();
      const fill = planFile(file, wholeWords("seed"), { ...rules, refsAllowed });
      const plan: Planner = (now) =>
        now.head === undefined
          ? fill(now)
          : ok({ objects: now.objects, whole: true, ...wholeWords("seed") });
      return live.loaded.head === undefined
        ? written(await changes.make(author, plan))
        : ok({ revision: live.loaded.head, changed: false });
    },
  };
}

type RevisionLog = Pick<Configuration, "revisions" | "diff" | "rollback">;

function logOf({ parts, changes, judging, rules }: Opened): RevisionLog {
  const { store, keys } = parts;
  const objectsAt = async (
    position: Pick<Revision, "epoch" | "sequence">,
  ): Promise<Result<ReadonlyMap<string, ConfigObject>, ConfigRefusal>> => {
    const stored = await store.config.revision(position);
    if (!stored.ok) return stored;
    if (stored.value === undefined) return err({ code: "missing" });
    const built = await openRevision(keys, stored.value);
    return built.ok ? ok(byKey(objectsOfBody(built.value.bytes))) : err(refusalOf(built.error));
  };
  return {
    revisions: (page) => store.config.revisions(page),
    diff: async (from, to) => {
      const before = await objectsAt(from);
      if (!before.ok) return before;
      const after = await objectsAt(to);
      return after.ok ? ok(differencesOf(before.value, after.value)) : after;
    },
    rollback: async (to, author) => {
      const objects = await objectsAt(to);
      if (!objects.ok) return objects;
      const { judgeObjects } = await judging();
      // It was valid once; this release, or what the process adds, may judge otherwise.
      const faults = [
        ...judgeObjects(objects.value, rules.judge),
        ...(await scriptFaults(
          parts.scripts,
          scriptsIn(undefined, fileOf(objects.value.values())),
        )),
      ];
      if (faults.length > 0) return err({ code: "invalid", faults });
      const summary = `roll back to ${to.epoch}.${to.sequence}`;
      const words = { ...wholeWords("rollback"), summary };
      const plan = ok({ objects: objects.value, whole: true, ...words });
      return written(await changes.make(author, () => plan));
    },
  };
}

const planEpoch: Planner = ({ objects }) =>
  ok({ objects, whole: true, newEpoch: true, ...wholeWords("newEpoch") });

function wholeWords(
  action: "import" | "seed" | "rollback" | "newEpoch",
): Pick<Plan, "action" | "target" | "summary"> {
  return { action, target: "config", summary: action };
}

function written(made: Result<Changed, ConfigRefusal>): Result<Written, ConfigRefusal> {
  return made.ok ? ok(writtenOf(made.value)) : made;
}

function writtenOf({ revision, changed }: Changed): Written {
  return { revision, changed };
}

function viewOf(object: LoadedObject): ObjectView {
  const { kind, name, version, updatedAt, updatedBy } = object;
  return { kind, name, body: hideSecrets(object), version, updatedAt, updatedBy };
}

function hidden(object: ConfigObject): ConfigObject {
  const { kind, name } = object;
  return { kind, name, body: hideSecrets(object) };
}
