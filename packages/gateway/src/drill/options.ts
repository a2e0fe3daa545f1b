/** The arguments of `gateway drill`, read and checked: nothing is asked of anybody before they fit together. */
import { drillNames, type DrillName } from "@gateway/contract/drillApi.ts";
import { Secret } from "@gateway/core/secret.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { parseArgs } from "node:util";
import { isLoopback } from "../config/rules.ts";
import type { Environment } from "../config/secrets.ts";

/** Variables that hold passwords; they are handed to no hook. */
export const passwordVariables = {
  admin: "DRILL_ADMIN_PASSWORD",
  client: "DRILL_CLIENT_PASSWORD",
} as const;

/** Stands in `--sql` for a name that no two queries share. */
export const markPlace = "{mark}";

/** A drill that was asked for, with the operator's commands for it. */
export type ChosenDrill =
  /** The command comes back when the fault is over by itself, as a restart does. */
  | { readonly kind: "hook"; readonly name: DrillName; readonly begin: string }
  /** `end` is run whatever happens after `begin`. */
  | {
      readonly kind: "hooks";
      readonly name: DrillName;
      readonly begin: string;
      readonly end: string;
    }
  | { readonly kind: "revoke"; readonly name: "userRevoked" };

export interface Login {
  readonly name: string;
  readonly password: Secret | undefined;
}

export interface DrillOptions {
  /** Where the admin API is. */
  readonly target: URL;
  readonly admin: Login;
  /** Trino HTTP listeners, one for each worker, or that of a balancer. */
  readonly workers: readonly URL[];
  readonly client: Login;
  /** `/metrics` of those that keep records. */
  readonly metrics: readonly URL[];
  readonly drills: readonly ChosenDrill[];
  readonly engine: { readonly command: string; readonly cap: number } | undefined;
  readonly sql: string;
  readonly clients: number;
  readonly holdMs: number;
  /** Without an end after it, an answer hangs. */
  readonly answerMs: number;
  /** For the fleet to be as before. */
  readonly recoveryMs: number;
  /** For one command of the operator. */
  readonly hookMs: number;
  readonly json: boolean;
}

const text = { type: "string" } as const;
const shape = {
  target: text,
  admin: { type: "string", default: "admin" },
  worker: { type: "string", multiple: true },
  client: { type: "string", default: "drill" },
  metrics: { type: "string", multiple: true },
  sql: { type: "string", default: `select '${markPlace}' as ${markPlace}` },
  clients: { type: "string", default: "8" },
  "restart-worker": text,
  "stop-control": text,
  "start-control": text,
  "slow-engine": text,
  "heal-engine": text,
  "kill-engine": text,
  "revoke-user": { type: "boolean", default: false },
  "engine-running": text,
  cap: text,
  "hold-secs": { type: "string", default: "15" },
  "answer-secs": { type: "string", default: "60" },
  "recovery-secs": { type: "string", default: "120" },
  "hook-secs": { type: "string", default: "120" },
  "allow-cleartext": { type: "boolean", default: false },
  json: { type: "boolean", default: false },
} as const;

type Values = ReturnType<typeof valuesOf>;

/** What was asked for, or one line that says what is wrong. Throws what `parseArgs` throws on unknown options. */
export function readOptions(
  args: readonly string[],
  environment: Environment,
): Result<DrillOptions, string> {
  const values = valuesOf(args);
  const { target, worker = [], metrics = [] } = values;
  if (target === undefined) return err("--target is missing: the admin API of a staging fleet");
  if (worker.length === 0) return err("--worker is missing: a Trino HTTP listener of the fleet");
  const drills = drillsOf(values);
  if (!drills.ok) return drills;
  const engine = engineOf(values);
  if (!engine.ok) return engine;
  const wrong = [target, ...worker, ...metrics]
    .map((url) => addressFault(url, values["allow-cleartext"]))
    .find((fault) => fault !== undefined);
  if (wrong !== undefined) return err(wrong);
  if (!values.sql.includes(markPlace)) return err(`--sql has no ${markPlace}`);
  const numbers = numbersOf(values);
  if (!numbers.ok) return numbers;
  const { clients, hold, answer, recovery, hook } = numbers.value;
  return ok({
    target: new URL(target),
    admin: { name: values.admin, password: passwordIn(environment, passwordVariables.admin) },
    workers: worker.map((url) => new URL(url)),
    client: { name: values.client, password: passwordIn(environment, passwordVariables.client) },
    metrics: metrics.map((url) => new URL(url)),
    drills: drills.value,
    engine: engine.value,
    sql: values.sql,
    // Each worker is asked by somebody, so that all of them have to come back.
    clients: Math.max(clients, worker.length),
    holdMs: hold * 1000,
    answerMs: answer * 1000,
    recoveryMs: recovery * 1000,
    hookMs: hook * 1000,
    json: values.json,
  });
}

function valuesOf(args: readonly string[]) {
  return parseArgs({ args: [...args], options: shape, strict: true }).values;
}

function drillsOf(values: Values): Result<readonly ChosenDrill[], string> {
  const chosen: ChosenDrill[] = [];
  for (const [name, first, last] of [
    ["controlPlaneAway", "stop-control", "start-control"],
    ["slowEngine", "slow-engine", "heal-engine"],
  ] as const) {
    const [begin, end] = [values[first], values[last]];
    if ((begin === undefined) !== (end === undefined)) {
      return err(`--${first} and --${last} belong together: a drill undoes what it did`);
    }
    if (begin !== undefined && end !== undefined) chosen.push({ kind: "hooks", name, begin, end });
  }
  for (const [name, option] of [
    ["workerRestart", "restart-worker"],
    ["engineKilled", "kill-engine"],
  ] as const) {
    const begin = values[option];
    if (begin !== undefined) chosen.push({ kind: "hook", name, begin });
  }
  if (values["revoke-user"]) chosen.push({ kind: "revoke", name: "userRevoked" });
  if (chosen.length === 0)
    return err("no drill is chosen: give a command for one, or --revoke-user");
  const order = (drill: ChosenDrill): number => drillNames.indexOf(drill.name);
  return ok(chosen.toSorted((a, b) => order(a) - order(b)));
}

function engineOf(values: Values): Result<DrillOptions["engine"], string> {
  const { "engine-running": command, cap } = values;
  if (command === undefined && cap === undefined) return ok(undefined);
  if (command === undefined || cap === undefined) {
    return err("--engine-running and --cap belong together");
  }
  const count = countOf(cap, 1, 100_000);
  return count === undefined ? err("--cap must be a whole number") : ok({ command, cap: count });
}

/** Passwords go to these addresses. */
function addressFault(url: string, allowsCleartext: boolean): string | undefined {
  if (!URL.canParse(url)) return `${url} is no URL`;
  const { protocol, hostname, username, password } = new URL(url);
  // What was typed stays in the shell's history.
  if (username !== "" || password !== "") return "a URL must not hold credentials";
  if (protocol === "https:") return undefined;
  if (protocol !== "http:") return `${url} must be an https URL`;
  return allowsCleartext || isLoopback(hostname.replaceAll(/[[\]]/g, ""))
    ? undefined
    : `${url} must be https, or say --allow-cleartext`;
}

interface Numbers {
  readonly clients: number;
  readonly hold: number;
  readonly answer: number;
  readonly recovery: number;
  readonly hook: number;
}

function numbersOf(values: Values): Result<Numbers, string> {
  const read = {
    clients: countOf(values.clients, 1, 256),
    hold: countOf(values["hold-secs"], 1, 3_600),
    answer: countOf(values["answer-secs"], 1, 3_600),
    recovery: countOf(values["recovery-secs"], 1, 3_600),
    hook: countOf(values["hook-secs"], 1, 3_600),
  };
  const wrong = Object.entries(read).find(([, count]) => count === undefined)?.[0];
  if (wrong === undefined) return ok(read as Numbers);
  return err(`--${wrong === "clients" ? wrong : `${wrong}-secs`} must be a whole number in reach`);
}

function countOf(given: string, least: number, most: number): number | undefined {
  const count = /^\d{1,6}$/.test(given) ? Number(given) : Number.NaN;
  return count >= least && count <= most ? count : undefined;
}

function passwordIn(environment: Environment, name: string): Secret | undefined {
  const found = environment[name];
  return found === undefined || found === "" ? undefined : new Secret(found);
}
