/**
 * Statements that clients send before their user's first one, in `corpus.sql`: one a line, captured
 * from psql, pgjdbc, SQLAlchemy, asyncpg, pgcli and DuckDB's ATTACH, rendered from its templates for
 * pgAdmin's tree, and after their sources for the others.
 */
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import type { Prepared } from "../read/statement.ts";
import { preparedOf, statementReader } from "../read/statement.ts";
import { CatalogBench } from "../rig/catalog.ts";
import { SessionCatalog } from "./sessionCatalog.ts";

const lines = readFileSync(new URL("corpus.sql", import.meta.url), "utf8").split("\n");

const tools = new Map<string, string[]>();
let heading = "";
for (const line of lines) {
  if (line.startsWith("-- ")) heading = line.slice(3);
  else if (line !== "") tools.set(heading, [...(tools.get(heading) ?? []), line]);
}

const readText = statementReader();
const bench = new CatalogBench();
afterAll(() => bench[Symbol.asyncDispose]());

describe.each([...tools])("%s", (_, statements) => {
  it("is answered by the gateway itself, every statement of it", () => {
    const passed = statements.flatMap((text) => {
      const read = readText(text);
      const kinds = read.ok ? read.value.map(({ kind }) => kind) : [];
      const ours = kinds.every((kind) => kind.kind === "local" || isOurs(kind));
      return ours && kinds.length > 0 ? [] : [text];
    });
    expect(passed).toEqual([]);
  });

  it("is described and answered without an error, but for what only an engine knows", async () => {
    const failures: string[] = [];
    for (const text of statements) {
      const prepared = preparedOf(text, [], readText);
      if (!prepared.ok || !isOurs(prepared.value.kind)) continue;
      const failure = await failureOf(prepared.value);
      const right = text.includes("pg_stat_activity")
        ? failure?.startsWith("42501") === true
        : failure === undefined;
      if (!right) failures.push(`${failure}: ${text}`);
    }
    expect(failures).toEqual([]);
  }, 120_000);
});

function isOurs(kind: Prepared["kind"]): boolean {
  return kind.kind === "query" && kind.catalog !== undefined;
}

async function failureOf(prepared: Prepared): Promise<string | undefined> {
  const session = bench.session();
  const catalog = new SessionCatalog(bench.mirrors, session, 1);
  const described = await catalog.describe(prepared, new AbortController().signal);
  if (!described.ok) return `${described.error.sqlState} ${described.error.message}`;
  const nulls = described.value.parameters.map(() => null);
  const { error, columns } = await bench.ask(prepared.sql, nulls, session);
  const names = described.value.columns.map(({ name }) => name);
  return error ?? (columns.join() === names.join() ? undefined : "other columns than described");
}
