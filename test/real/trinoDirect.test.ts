/**
 * Generated statements to a Trino and through the gateway in front of it: a client is told the same.
 * `npm run test:real` says where the server is; a nightly run sends 10,000.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { TrinoClient, type Told } from "./trinoClient.ts";
import { scriptOf } from "./trinoStatements.ts";
import { seed } from "./seed.ts";

const server = process.env["GATEWAY_TEST_TRINO"] ?? "";
const nightly = process.env["GATEWAY_NIGHTLY"] === "1" ? 10_000 : 150;
const statementsMin = Number(process.env["TRINO_STATEMENTS"] ?? nightly);
/** Most of a run of that many; what hangs is ended by it. */
const perStatementMs = 2_000;

/** A difference that is meant, by what it is of. */
interface Meant {
  readonly why: string;
  readonly of: (sql: string, direct: Told, through: Told) => boolean;
  readonly members: readonly (keyof Told)[];
}

const withoutPlace = (text: string | undefined) => text?.replace(/^line \d+:\d+: /, "");
const startsWith = (sql: string, words: string) => new RegExp(`^\\s*${words}\\b`, "i").test(sql);

const meant: readonly Meant[] = [
  {
    why: "failures come without columns and update type, which no client reads",
    of: (_, direct, through) => direct.error !== undefined && direct.error === through.error,
    members: ["columns", "updateType"],
  },
  {
    why: "a client keeps a prepared statement as it wrote it, Trino writes it anew",
    of: (sql, direct, through) =>
      startsWith(sql, "prepare") &&
      direct.changes.startsWith("added-prepare: ") &&
      through.changes.startsWith("added-prepare: "),
    members: ["changes"],
  },
  {
    why: "places in a prepared statement count in its own text, not in Trino's",
    of: (sql, direct, through) =>
      startsWith(sql, "(describe|execute)") &&
      direct.error === through.error &&
      withoutPlace(direct.message) === withoutPlace(through.message),
    members: ["message", "place"],
  },
  {
    why: "EXECUTE, PREPARE and IMMEDIATE are refused in other words where they name nothing",
    of: (sql, direct, through) =>
      direct.error === through.error && /^(execute immediate ''|prepare from)/.test(sql),
    members: ["message", "place"],
  },
  {
    why: "COMMIT of what a failure ended tells the client that the transaction is over",
    of: (sql, direct, through) =>
      startsWith(sql, "commit") &&
      direct.error !== undefined &&
      direct.error === through.error &&
      through.changes === "clear-transaction-id: true",
    members: ["changes"],
  },
  {
    why: "an empty statement is refused with the request, in other words",
    of: (_, direct, through) => direct.error === "HTTP 400" && through.error === "HTTP 400",
    members: ["message"],
  },
  {
    why: "what an internal fault says stays in the gateway",
    of: (_, direct, through) =>
      direct.error === through.error &&
      /INTERNAL_ERROR|EXTERNAL/.test(direct.error ?? "") &&
      through.message === "The engine failed.",
    members: ["message", "place"],
  },
  {
    why: "whose rights a statement has is decided by the gateway",
    of: (sql) => startsWith(sql, "(set role|(re)?set session authorization)"),
    members: ["columns", "updateType", "error", "message", "place", "changes"],
  },
];

let gateway: TestGateway;
beforeAll(async () => {
  const local = { engine: "trino", endpoint: server, user: "alice" };
  const members = { members: ["local"], maxRunningQueries: 8 };
  gateway = await gatewayOf(configOf({ clusters: { local }, clusterGroups: { default: members } }));
});
afterAll(() => gateway[Symbol.asyncDispose]());

it(
  "tells a Trino client what Trino tells it",
  async () => {
    const url = `http://127.0.0.1:${portOf(gateway, "trinoHttp")}`;
    await new TrinoClient(server, "way_one").run("create schema if not exists memory.way_one");
    await new TrinoClient(server, "way_one").run("create schema if not exists memory.way_two");
    const differences: unknown[] = [];
    const counts = new Map<string, number>();
    let statements = 0;
    for (let script = 0; statements < statementsMin; script += 1) {
      const one = new TrinoClient(server, "way_one");
      const two = new TrinoClient(url, "way_two");
      for (const sql of scriptOf(seed + script)) {
        const [direct, through] = await Promise.all([one.run(sql), two.run(sql)]);
        statements += 1;
        const found = differenceOf(sql, direct, through, counts);
        if (found !== undefined) differences.push(found);
      }
    }
    const named = [...counts].map(([why, count]) => `  ${count} ${why}\n`).join("");
    process.stdout.write(`seed ${seed}: ${statements} statements, named differences:\n${named}`);
    expect(differences.slice(0, 5), `seed ${seed}`).toEqual([]);
  },
  statementsMin * perStatementMs,
);

/** The members that differ and are not meant to. */
function differenceOf(
  sql: string,
  direct: Told,
  through: Told,
  counts: Map<string, number>,
): object | undefined {
  const [wanted, got] = [comparable(sql, direct), comparable(sql, through)];
  const excused = new Set<string>();
  const members = Object.keys(wanted) as (keyof Told)[];
  const differing = members.filter((name) => !isSame(wanted[name], got[name]));
  for (const { why, of, members: covered } of meant) {
    const here = covered.filter((name) => differing.includes(name));
    if (here.length === 0 || !of(sql, direct, through)) continue;
    for (const name of here) excused.add(name);
    counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  const left = differing.filter((name) => !excused.has(name));
  if (left.length === 0) return undefined;
  const shown = left.map((name) => [name, { direct: wanted[name], through: got[name] }]);
  return { sql, ...Object.fromEntries(shown) };
}

/** Without the order that a statement does not ask for. */
function comparable(sql: string, told: Told): Told {
  if (/order by/i.test(sql) || told.rows === undefined) return told;
  return { ...told, rows: told.rows.toSorted() };
}

function isSame(one: Told[keyof Told], other: Told[keyof Told]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
