/** Questions that real policy servers were asked under the policies of docs/access-control.md, and what has to come of their answers. */
import type { TableDecision } from "@gateway/core/port/sql/policy.ts";
import type { SqlAction } from "@gateway/core/port/sql/sqlReading.ts";

export type AskedBy = "data" | "compile" | "cerbos";

export interface AskedOf {
  readonly by: AskedBy;
  readonly groups: readonly string[];
  readonly table: readonly string[];
  readonly action: SqlAction;
  readonly told: TableDecision;
}

const masked = [
  { name: "amount", mask: undefined },
  { name: "email", mask: "'hidden'" },
  { name: "id", mask: undefined },
  { name: "region", mask: undefined },
];
const inOrder = ["id", "region", "amount", "email"].map((name) => ({
  name,
  mask: name === "email" ? "'hidden'" : undefined,
}));

const orders = ["sales", "orders"];
const other = ["lake", "hr", "salaries"];
const data = "gateway/decision";
const compile = "gateway/include";
const cerbos = "cerbos table";

const all = (rule: string): TableDecision => ({ kind: "allow", rule, view: undefined });
const none = (rule: string): TableDecision => ({ kind: "deny", rule });
const some = (
  rule: string,
  rows: string,
  columns?: readonly { readonly name: string; readonly mask: string | undefined }[],
): TableDecision => ({ kind: "allow", rule, view: { rows, columns } });

export const policyQuestions: readonly AskedOf[] = [
  { by: "data", groups: ["owners"], table: other, action: "delete", told: all("owners") },
  {
    by: "data",
    groups: ["EU", "analysts"],
    table: orders,
    action: "select",
    told: some("ownRegion", "region IN ('EU', 'analysts')", inOrder),
  },
  { by: "data", groups: ["EU"], table: orders, action: "insert", told: none(data) },
  { by: "data", groups: ["EU"], table: other, action: "select", told: none(data) },
  { by: "compile", groups: ["owners"], table: other, action: "delete", told: all(compile) },
  {
    by: "compile",
    groups: ["EU", "analysts"],
    table: orders,
    action: "select",
    told: some(compile, "region IN ('EU', 'analysts')", masked),
  },
  {
    by: "compile",
    groups: [],
    table: orders,
    action: "select",
    told: some(compile, "1 = 0", masked),
  },
  { by: "compile", groups: ["EU"], table: orders, action: "update", told: none(compile) },
  { by: "compile", groups: ["EU"], table: other, action: "select", told: none(compile) },
  { by: "cerbos", groups: ["owners"], table: other, action: "delete", told: all(cerbos) },
  {
    by: "cerbos",
    groups: ["EU", "analysts"],
    table: orders,
    action: "select",
    told: some(cerbos, "region IN ('EU', 'analysts')"),
  },
  {
    by: "cerbos",
    groups: ["EU"],
    table: orders,
    action: "select",
    told: some(cerbos, "region = 'EU'"),
  },
  { by: "cerbos", groups: ["EU"], table: orders, action: "update", told: none(cerbos) },
  { by: "cerbos", groups: ["EU"], table: other, action: "select", told: none(cerbos) },
];
