/**
 * The police step of a generation: what agents may write, guards, then access control. Guards see the client's own
 * text; what access control makes of it is sent with their limits.
 */
import type { AccessControlConfig } from "@gateway/contract/config/accessControl.ts";
import type { GatewayError } from "../error.ts";
import type { PolicyLog } from "../guard/told.ts";
import { accessControl, type AccessControl } from "../police/accessControl.ts";
import { shownTables } from "../police/listing.ts";
import { relayRefusal } from "../police/relay.ts";
import { rulesPolicy } from "../police/rules.ts";
import type { Host } from "../port/host.ts";
import type { Catalog } from "../port/sql/catalog.ts";
import type { Policy } from "../port/sql/policy.ts";
import type { Policed, Routed } from "../query/query.ts";
import { policedAs } from "../query/stages.ts";
import { err, ok, type Result } from "../result.ts";
import type { Dialect } from "../sql/dialect.ts";
import { readStatement } from "../sql/statement.ts";
import type { Generation } from "./generation.ts";
import { policed, type PolicedGroup, type Policing as PolicingParts } from "./policed.ts";

/** What the step needs to know of a group. */
export interface ControlledGroup extends PolicedGroup {
  /** Of the engines that a statement may reach. */
  readonly dialects: readonly Dialect[];
}

export interface Policing extends Pick<Generation, "police" | "shown"> {
  /** `engine` keys what engines show; the answer keys what is left of it. */
  audience(query: Routed, engine: string): string;
}

/** No promise, and nothing to look up, where no access control is configured. */
export function policingOf(
  config: AccessControlConfig | undefined,
  parts: Pick<PolicingParts, "ask" | "running"> & {
    readonly host: Pick<Host, "slices" | "sql" | "clock">;
    /** Of a policy server; absent where rules of the configuration decide. */
    readonly policy: Policy | undefined;
    /** Absent where the configuration names none. */
    readonly catalog?: Catalog | undefined;
  },
  groupOf: (name: string) => ControlledGroup,
): Policing {
  const { sql, clock } = parts.host;
  const control =
    config &&
    accessControl(config, {
      policy: policyIn(config, parts.policy),
      catalog: parts.catalog,
      sql,
      clock,
    });
  const controls = (group: string): AccessControl | undefined =>
    (config?.clusterGroups?.includes(group) ?? true) ? control : undefined;
  return {
    police: (query, log, signal) => {
      const group = groupOf(query.group);
      // Written out: what follows a spread makes a hidden class anew for each query.
      const { host, ask, running } = parts;
      const passed = policed(query, group, { host, ask, running, log, signal });
      const own = controls(query.group);
      return own === undefined
        ? passed
        : controlled(query, passed, { control: own, group, log, signal });
    },
    shown: (query, tables, signal) => {
      const own = controls(query.group);
      return own === undefined ? tables : shownTables(own, query, tables, signal);
    },
    audience: (query, engine) => {
      const own = controls(query.group);
      return own === undefined ? engine : JSON.stringify([engine, own.audience(query)]);
    },
  };
}

function policyIn(config: AccessControlConfig, opened: Policy | undefined): Policy {
  if (config.provider === "rules") return rulesPolicy(config.rules);
  if (opened === undefined) throw new Error(`no policy was opened for ${config.provider}`);
  return opened;
}

interface Controlling {
  readonly control: AccessControl;
  readonly group: ControlledGroup;
  readonly log: PolicyLog;
  readonly signal: AbortSignal;
}

async function controlled(
  asked: Routed,
  passing: ReturnType<Generation["police"]>,
  { control, group, log, signal }: Controlling,
): Promise<Result<Policed, GatewayError>> {
  const passed = await passing;
  if (!passed.ok) return passed;
  // Nothing of its text reaches an engine; `shown` narrows what the engine lists.
  if (asked.lists === true) return passed;
  const { value } = passed;
  const refusal = relayRefusal(value.relay);
  if (refusal !== undefined) {
    log.acted("access: denied: what was sent beside the statement");
    return err(refusal);
  }
  const { allowedSql, session } = value;
  const query =
    allowedSql === value.sql
      ? value
      : { ...value, sql: allowedSql, statement: readStatement(allowedSql, session.dialect) };
  const written = await control.judge(query, group.dialects, log, signal);
  return written.ok ? ok(policedAs(value, written.value, value.guarded, value.order)) : written;
}

/** Routers that look at what a statement says, or may. */
const readingRouters: ReadonlySet<string> = new Set(["queryRegex", "compound", "script"]);

/** True where a text decides what becomes of its statement, or is changed: an engine may then be given only what was judged. */
export function judgesTexts(
  config: {
    readonly guardrails?: { readonly guards: readonly unknown[] } | undefined;
    readonly accessControl?: object | undefined;
    readonly translation?: object | undefined;
    readonly routers: readonly { readonly type: string }[];
  },
  { localRewrites }: Pick<Host, "localRewrites">,
): boolean {
  const { guardrails, translation, routers } = config;
  return (
    (guardrails?.guards.length ?? 0) > 0 ||
    config.accessControl !== undefined ||
    translation !== undefined ||
    localRewrites !== undefined ||
    routers.some(({ type }) => readingRouters.has(type))
  );
}
