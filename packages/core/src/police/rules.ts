/** Rules of the configuration as a policy: the first that fits the caller, the table and the action decides, and none denies. */
import type { AccessRule } from "@gateway/contract/config/accessControl.ts";
import type {
  Policy,
  PolicyQuestion,
  TableDecision,
  TableView,
  ViewColumn,
} from "../port/sql/policy.ts";
import type { AuthContext } from "../query/identity.ts";
import { tablePattern, type TablePattern } from "./names.ts";
import { withValues } from "./values.ts";

interface CompiledRule {
  readonly config: AccessRule;
  readonly tables: readonly TablePattern[];
}

/** Nothing is remembered here: the same configuration always says the same. */
export function rulesPolicy(rules: readonly AccessRule[]): Policy {
  const compiled = rules.map((config) => ({ config, tables: config.tables.map(tablePattern) }));
  return {
    wantsColumns: false,
    audience: ({ identity: { user, groups, roles, attributes } }) =>
      JSON.stringify([user, groups, roles, attributes]),
    decide: (question) => decided(compiled, question),
  };
}

function decided(rules: readonly CompiledRule[], question: PolicyQuestion): TableDecision {
  const { table, action } = question;
  const { identity } = question.session;
  const rule = rules.find(
    ({ config, tables }) =>
      config.actions.includes(action) &&
      isMeant(config, identity) &&
      tables.some((fits) => fits(table)),
  );
  if (rule === undefined) return { kind: "deny", rule: undefined };
  const { config } = rule;
  const { name } = config;
  if (config.effect === "deny") return { kind: "deny", rule: name };
  const view = viewOf(config, identity);
  return view === "unwritable" ? { kind: "deny", rule: name } : { kind: "allow", rule: name, view };
}

/** A rule that names nobody is for everybody. */
function isMeant({ users, groups, roles }: AccessRule, identity: AuthContext): boolean {
  if (users === undefined && groups === undefined && roles === undefined) return true;
  return (
    users?.includes(identity.user) === true ||
    groups?.some((group) => identity.groups.includes(group)) === true ||
    roles?.some((role) => identity.roles.includes(role)) === true
  );
}

/** `unwritable`: the caller's values can not be written into the rule's expressions. */
function viewOf(rule: AccessRule, identity: AuthContext): TableView | undefined | "unwritable" {
  const { rowFilter, columns, masks } = rule;
  const masked = columns === undefined ? Object.keys(masks ?? {}) : [];
  if (rowFilter === undefined && columns === undefined && masked.length === 0) return undefined;
  const rows = rowFilter === undefined ? undefined : withValues(rowFilter, identity);
  if (rows === undefined && rowFilter !== undefined) return "unwritable";
  const shown: ViewColumn[] = [];
  for (const name of columns ?? masked) {
    const mask = masks !== undefined && Object.hasOwn(masks, name) ? masks[name] : undefined;
    const written = mask === undefined ? undefined : withValues(mask, identity);
    if (written === undefined && mask !== undefined) return "unwritable";
    shown.push({ name, mask: written });
  }
  if (columns !== undefined) return { rows, columns: shown };
  return { rows, columns: masked.length === 0 ? undefined : { masked: shown } };
}
