/**
 * What a stage must have before anything is made. SST finds a missing secret only when a resource asks
 * for it, which may be in the middle of a deployment; a value that the gateway refuses, never.
 *
 * Everything that is wrong is named at once. No value is repeated.
 */
import {
  adbcDriverNames,
  fleetSecretCharsMin,
  encryptionKeyCharsMin,
  itemsOf,
} from "./gatewayConfig.ts";
import { type Stage, surroundings } from "./stage.ts";

export interface Asked {
  readonly stage: Stage;
  /** True under `sst dev`, which deploys neither containers nor functions. */
  readonly dev: boolean;
  /** Value of an SST secret, and of a variable of whoever deploys. */
  secret(name: string): string | undefined;
  variable(name: string): string | undefined;
}

type Rule = (value: string) => string | undefined;

const rules = {
  DatabaseUrl: (value) =>
    /^postgres(?:ql)?:\/\/./.test(value) ? undefined : "is no postgresql:// URL",
  EncryptionKeys: listOf(encryptionKeyCharsMin, 8),
  FleetSecrets: listOf(fleetSecretCharsMin, 2),
  Certificate: pemOf("CERTIFICATE"),
  PrivateKey: pemOf("PRIVATE KEY"),
} as const satisfies Record<string, Rule>;

/** One line for each thing that is missing or wrong; none when the stage can be deployed. */
export function missing(asked: Asked): readonly string[] {
  const { stage, dev } = asked;
  const problems = [...limitProblems("workers", stage.workers)];
  problems.push(...limitProblems("containers", stage.containers));
  problems.push(...secretNameProblems(stage.secrets));
  problems.push(...driverProblems(stage.adbcDrivers ?? []));
  const needed: string[] = dev
    ? ["FleetSecrets"]
    : ["DatabaseUrl", "EncryptionKeys", "FleetSecrets"];
  const runsWorkers = !dev && stage.workers !== undefined;
  if (runsWorkers) needed.push("Certificate", "PrivateKey");
  const inContainers = !dev && (runsWorkers || stage.control === "container");
  if (inContainers) needed.push(...Object.keys(stage.secrets));
  problems.push(...needed.flatMap((name) => secretProblem(name, asked.secret(name))));
  if (inContainers) problems.push(...imageProblem(asked.variable(surroundings.image)));
  if (!dev && stage.control === "container") {
    problems.push(...domainProblem(asked.variable(surroundings.domain)));
  }
  return problems;
}

/** Throws before the first resource is made. */
export function refuseIncomplete(asked: Asked): void {
  const problems = missing(asked);
  if (problems.length === 0) return;
  throw new Error(`Nothing was deployed. Missing or wrong:\n- ${problems.join("\n- ")}`);
}

function secretProblem(name: string, value: string | undefined): readonly string[] {
  if (value === undefined || value === "") {
    return [`secret ${name}: not set (npx sst secret set ${name} --stage ${$app.stage})`];
  }
  const rule: Rule | undefined = Object.entries(rules).find(([known]) => known === name)?.[1];
  const wrong = rule?.(value);
  return wrong === undefined ? [] : [`secret ${name}: ${wrong}`];
}

function imageProblem(value: string | undefined): readonly string[] {
  if (value === undefined || value === "") return [`${surroundings.image}: not set`];
  if (/@sha256:[0-9a-f]{64}$/.test(value)) return [];
  return [
    `${surroundings.image}: names no digest (…@sha256:…), so that each start may run another`,
  ];
}

function domainProblem(value: string | undefined): readonly string[] {
  if (value === undefined || value === "") {
    return [`${surroundings.domain}: not set; TLS of a control plane in a container ends there`];
  }
  const fits =
    /^(?=.{4,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/;
  return fits.test(value) ? [] : [`${surroundings.domain}: is no host name`];
}

function limitProblems(name: string, limits: Stage["workers"]): readonly string[] {
  if (limits === undefined) return [];
  const { min, max } = limits;
  const fits = Number.isInteger(min) && Number.isInteger(max) && min >= 1 && max >= min;
  return fits ? [] : [`stage.${name}: min and max must be whole, min at least 1, max at least min`];
}

function driverProblems(drivers: readonly string[]): readonly string[] {
  const known: readonly string[] = adbcDriverNames;
  return drivers
    .filter((name) => !known.includes(name))
    .map((name) => `stage.adbcDrivers: ${name} is none of ${known.join(", ")}`);
}

/** Objects of the admin API may refer to no other variables than these. */
function secretNameProblems(secrets: Stage["secrets"]): readonly string[] {
  return Object.entries(secrets).flatMap(([name, variable]) => {
    const problems = [];
    if (name in rules) problems.push(`stage.secrets: ${name} is a secret of the deployment itself`);
    if (!/^[A-Z][A-Za-z0-9]*$/.test(name)) {
      problems.push(`stage.secrets: ${name} must be letters and digits, the first a capital`);
    }
    if (!/^GATEWAY_SECRET_[A-Z0-9_]+$/.test(variable)) {
      problems.push(`stage.secrets.${name}: ${variable} must begin with GATEWAY_SECRET_`);
    }
    return problems;
  });
}

function listOf(charsMin: number, countMax: number): Rule {
  return (value) => {
    const items = itemsOf(value);
    if (items.length > countMax) return `has more than ${countMax} values`;
    if (items.some(({ length }) => length < charsMin)) {
      return `has a value of fewer than ${charsMin} characters`;
    }
    return undefined;
  };
}

function pemOf(kind: string): Rule {
  const block = new RegExp(
    `-----BEGIN (?:[A-Z]+ )?${kind}-----[\\s\\S]+-----END (?:[A-Z]+ )?${kind}-----`,
  );
  return (value) => (block.test(value) ? undefined : `is no PEM with a ${kind}`);
}
