/** Texts that an engine, or the way from it, did not live through. Each with what it is, for people. */

/** Quick results of many arrays of few rows, and how many rows they have. */
export const crowds: readonly (readonly [what: string, sql: string, rows: number])[] = [
  [
    "one match in each 2,048 of three million rows",
    "select id from (select range as id, (range * 7919) % 2048 as device from range(3000000)) where device = 5",
    1_465,
  ],
  [
    "a recursive query of 900 rows",
    "with recursive r(i) as (select 1 union all select i + 1 from r where i < 900) select i from r",
    900,
  ],
  ...[63, 64, 65, 180, 220, 300, 1_000].map(
    (count) => [`a union of ${count} branches`, union("select 1", count), count] as const,
  ),
];

/** Recursion of DuckDB's own functions, which no setting bounds. */
export const recursions: readonly (readonly [what: string, sql: string])[] = [
  ["json_structure", "select json_structure(repeat('[', 1000000) || repeat(']', 1000000))"],
  ["json_contains", "select json_contains(repeat('[', 200000) || repeat(']', 200000), '1')"],
  [
    "json_transform",
    `select json_transform('1', repeat('[', 100000) || '"INT"' || repeat(']', 100000))`,
  ],
  ["a cast to VARIANT", "select (repeat('[', 100000) || repeat(']', 100000))::json::variant"],
  [
    "json_merge_patch",
    `select json_merge_patch(repeat('{"a":', 200000) || '1' || repeat('}', 200000), repeat('{"a":', 200000) || '2' || repeat('}', 200000))`,
  ],
];

/** Read for minutes by the engine's scanner: refused before it sees them. */
export const runs: readonly (readonly [what: string, sql: string])[] = [
  ["comments", `select 41 + 1${"/**/".repeat(32_000)}`],
  ["comments inside comments", `select 1 ${"/*".repeat(60_000)}${"*/".repeat(60_000)}`],
  ["signs", `select 1 ${"+".repeat(128_000)}1`],
];

/** Planned for minutes, and interruptible at no moment of it. */
export const plans: readonly (readonly [what: string, sql: string])[] = [
  ["conditions", `select 1 where true${" and a.b=1".repeat(100_000)}`],
];

/** Larger ones; the last needs more than a statement may be by default. */
export const largerPlans: readonly (readonly [what: string, sql: string])[] = [
  ["twenty thousand branches of a union", union("select 1", 20_000)],
  ["conditions of three megabytes", `select 1 where true${" and a.b=1".repeat(300_000)}`],
];

function union(branch: string, count: number): string {
  return Array.from({ length: count }, () => branch).join(" union all ");
}
