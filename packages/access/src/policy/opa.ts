/**
 * Open Policy Agent as a policy. The data API evaluates a rule that says the whole decision. The compile API evaluates
 * a rule in part, with `input.row` unknown: what is left is the row filter, as conditions (UCAST) that are written as
 * SQL here. OPA's own SQL is not taken: it is made for four dialects, and nobody proves its text.
 */
import type { OpaConfig } from "@gateway/contract/config/policyServer.ts";
import { decisionOf } from "@gateway/core/police/answer.ts";
import { conditionText, valueLiteral } from "@gateway/core/police/condition.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { ClosablePolicy, PolicyQuestion, ViewColumn } from "@gateway/core/port/sql/policy.ts";
import { z } from "zod";
import {
  askedTable,
  remotePolicy,
  type Caller,
  type Decided,
  type PolicyServer,
  type Told,
} from "./remotePolicy.ts";
import { columnIn, conditionOf } from "./ucast.ts";

export function opaPolicy(config: OpaConfig & Told, host: Host): ClosablePolicy {
  return remotePolicy(config.api === "data" ? dataApi(config) : compileApi(config), config, host);
}

/** The document `input` of both APIs. */
function inputOf(user: Caller, { action, table, columns }: PolicyQuestion): object {
  return { user, action, table: askedTable(table), ...(columns !== undefined && { columns }) };
}

const expression = z.string().min(1).max(10_000);

/** Strict: a key that nobody reads may be a filter under a wrong name. */
const decisionSchema = z.strictObject({
  allow: z.boolean(),
  rule: z.string().min(1).max(100).optional(),
  rowFilter: expression.optional(),
  columns: z.array(z.string().min(1).max(200)).max(2_000).optional(),
  masks: z.record(z.string().max(200), expression).optional(),
});
const dataSchema = z.looseObject({ result: decisionSchema.optional() });

function dataApi({ path }: OpaConfig): PolicyServer {
  return {
    request: (caller, question) => ({
      path: `/v1/data/${path}`,
      body: { input: inputOf(caller, question) },
    }),
    decision: (json, { session }) => {
      const read = dataSchema.safeParse(json);
      if (!read.success) return undefined;
      const { result } = read.data;
      // No rule fits: the document is undefined, which OPA answers without a result.
      if (result === undefined) return { kind: "deny", rule: path };
      const { allow, rule = path, rowFilter, columns, masks = {} } = result;
      if (!allow) return { kind: "deny", rule };
      return decisionOf({ rule, rowFilter, columns, masks }, session.identity);
    },
  };
}

const maskSchema = z.strictObject({
  replace: z
    .strictObject({ value: z.union([z.string(), z.number(), z.boolean(), z.null()]) })
    .optional(),
});
const compileSchema = z.strictObject({
  result: z
    .strictObject({
      query: z.unknown().optional(),
      masks: z
        .strictObject({ row: z.record(z.string().min(1).max(200), maskSchema).optional() })
        .optional(),
    })
    .optional(),
  hints: z.unknown().optional(),
});

type Masks = Readonly<Record<string, z.output<typeof maskSchema>>>;

const ucast = "application/vnd.opa.ucast.all+json";

function compileApi({ path, maskPath }: OpaConfig): PolicyServer {
  return {
    request: (caller, question) => ({
      path: `/v1/compile/${path}`,
      accept: ucast,
      body: {
        input: inputOf(caller, question),
        unknowns: ["input.row"],
        ...(maskPath !== undefined && {
          options: { maskRule: `data.${maskPath.replaceAll("/", ".")}` },
        }),
      },
    }),
    decision: (json) => {
      const read = compileSchema.safeParse(json);
      if (!read.success) return undefined;
      const { query, masks } = read.data.result ?? {};
      // Nothing is left to ask of a row that is never shown.
      if (query === undefined) return { kind: "deny", rule: path };
      // A rule of masks that does not exist is answered as if there were nothing to mask.
      if (maskPath !== undefined && masks === undefined) return undefined;
      return compiled(path, query, masks && (masks.row ?? {}));
    },
  };
}

function compiled(rule: string, query: unknown, masks: Masks | undefined): Decided {
  const deny = (reason: string): Decided => ({ kind: "deny", rule, reason });
  const condition = conditionOf(query);
  if (typeof condition === "string") return deny(condition);
  const isAlways = condition.kind === "all" && condition.of.length === 0;
  const rows = isAlways ? undefined : conditionText(condition);
  if (rows === undefined && !isAlways) return deny("a condition that can not be written as SQL");
  const columns = masks === undefined ? undefined : shownColumns(masks);
  if (typeof columns === "string") return deny(columns);
  const narrows = rows !== undefined || columns !== undefined;
  return { kind: "allow", rule, view: narrows ? { rows, columns } : undefined };
}

/** The columns that the rule of masks lists; all of them where it says `*` and masks none. */
function shownColumns(masks: Masks): readonly ViewColumn[] | undefined | string {
  const names = Object.keys(masks);
  if (names.length === 0) return "no columns";
  if (names.includes("*")) {
    const isPlain = Object.values(masks).every(({ replace }) => replace === undefined);
    return isPlain ? undefined : "a mask beside *, which does not say what the other columns are";
  }
  const columns: ViewColumn[] = [];
  for (const name of names) {
    const column = columnIn(name);
    const replace = masks[name]?.replace;
    const mask = replace === undefined ? undefined : valueLiteral(replace.value);
    if (column === undefined || (mask === undefined && replace !== undefined)) {
      return "a mask that can not be written as SQL";
    }
    columns.push({ name: column, mask });
  }
  return columns;
}
