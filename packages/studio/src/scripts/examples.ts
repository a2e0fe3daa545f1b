/** What a new script of each use begins with, and what it is tried on. */
import type { ScriptUse } from "@gateway/contract/config/script.ts";
import type { ScriptMember, ScriptPlace, ScriptQuery } from "@gateway/contract/script.ts";

interface Use {
  /** Who asks it what. */
  readonly title: string;
  readonly answers: string;
  readonly source: string;
  /** The second argument, where the use has one. */
  readonly beside?: { readonly name: string; readonly example: Beside };
}

type Beside = ScriptPlace | readonly ScriptMember[];

export const uses = {
  route: {
    title: "A router: which group",
    answers: 'the name of a group, { deny: "reason" }, or null to ask the next router',
    source: `function route({ tags }) {
  return tags.team === "lab" ? "lab" : null;
}
`,
  },
  match: {
    title: "A condition: does a rule hold",
    answers: "true or false",
    source: `function match({ tags, user }) {
  return user === "scheduler" && tags.job !== undefined;
}
`,
  },
  order: {
    title: "A strategy: which cluster first",
    answers: "a list of names of clusters, best first",
    source: `function order(query, members) {
  const byLoad = members.toSorted((a, b) => a.running - b.running);
  return byLoad.map(({ cluster }) => cluster);
}
`,
    beside: {
      name: "Members",
      example: [
        { cluster: "small", engine: "duckDb", running: 3 },
        { cluster: "big", engine: "duckDb", running: 1 },
      ],
    },
  },
  judge: {
    title: "A guard: may it run",
    answers: 'null, { deny: "reason" } or { warn: "reason" }',
    source: `function judge({ kind, tags }) {
  if (kind === "ddl" && tags.ticket === undefined) return { deny: "Name the ticket: tag ticket." };
  return null;
}
`,
  },
  rewrite: {
    title: "A rewrite: what runs instead",
    answers: "the new statement, or null to leave it",
    source: `function rewrite({ sql }, { engine }) {
  return sql.includes("sales_v1") ? sql.replaceAll("sales_v1", "sales_v2") : null;
}
`,
    beside: {
      name: "Place",
      example: { when: "before", cluster: "main", engine: "duckDb", dialect: "duckDb" },
    },
  },
} as const satisfies Record<ScriptUse, Use>;

/** Undefined for a use that is of a newer release. */
export function useOf(name: string): Use | undefined {
  return Object.hasOwn(uses, name) ? uses[name as ScriptUse] : undefined;
}

/** What a script is tried on. */
export interface Example {
  /** Undefined: what was typed is no JSON. */
  readonly query: unknown;
  readonly beside: unknown;
}

export function exampleOf(use: string): Example {
  return { query: exampleQuery, beside: useOf(use)?.beside?.example };
}

/** Everything that a script is given, so that an author sees it. */
const exampleQuery: Omit<ScriptQuery, "sqlLength"> = {
  sql: "SELECT 1",
  kind: "select",
  parameters: 0,
  user: "ann",
  groups: ["analysts"],
  roles: [],
  tags: { team: "lab" },
  protocol: "trinoHttp",
  clientAddress: "127.0.0.1",
  headers: {},
  catalog: null,
  schema: null,
  dialect: "trino",
  group: null,
};
