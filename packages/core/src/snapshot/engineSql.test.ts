import { describe, expect, it } from "vitest";
import type { Backend } from "../port/backend.ts";
import { Home } from "../query/home.ts";
import { withSettings } from "../query/mysqlCall.ts";
import { virtualHost } from "../rig/virtual.ts";
import { queryOf } from "../run/rig/plane.ts";
import { digestReading } from "../sql/mask/fingerprint.ts";
import { literalReading } from "../sql/mask/literals.ts";
import { maskReading } from "../sql/mask/mask.ts";
import type { Steps } from "../sql/reading/steps.ts";
import { inWordsOf } from "./engineSql.ts";

describe("inWordsOf", () => {
  it("answers for a short text at once", () => {
    expect(inWordsOf(askedOf(`select "a"`), writingOf(true))).toEqual({
      ok: true,
      value: "select `a`",
    });
  });

  it("reads of a long text what its record will ask for, where records are masked", async () => {
    const client = longText("masked");
    const engine = await writtenOf(client, true);
    expect(engine).toMatch(/^select `masked`, 'x'/);
    expect(stepsOf(literalReading("postgres").ahead(client))).toBe(0);
    expect(stepsOf(literalReading("mysql").ahead(engine))).toBe(0);
    expect(stepsOf(maskReading("mysql").ahead(engine))).toBe(0);
  });

  it("reads a long text with its variables in front, as its record will have it", async () => {
    const sql = `select 1${", 'b'".repeat(20_000)}`;
    const call = { home: new Home(), foundRows: false, ignoreSpace: false, settings: "a = 1" };
    const query = {
      ...askedOf(sql),
      session: { ...askedOf(sql).session, dialect: "mysql" },
    } as const;
    await inWordsOf({ ...query, mysql: call }, writingOf(true));
    const recorded = withSettings(sql, call);
    expect(recorded).toMatch(/^SET STATEMENT a = 1 FOR select 1, /);
    expect(digestReading("mysql").knows(recorded)).toBe(true);
    expect(literalReading("mysql").knows(recorded)).toBe(true);
  });

  it("reads nothing for a record that keeps its texts", async () => {
    const client = longText("kept");
    const engine = await writtenOf(client, false);
    expect(stepsOf(literalReading("postgres").ahead(client))).toBeGreaterThan(40);
    expect(stepsOf(maskReading("mysql").ahead(engine))).toBeGreaterThan(40);
  });
});

async function writtenOf(client: string, recordsMasked: boolean): Promise<string> {
  const written = await inWordsOf(askedOf(client), writingOf(recordsMasked));
  if (!written.ok) throw new Error(written.error.code);
  return written.value;
}

function stepsOf(steps: Steps<void>): number {
  let count = 0;
  while (steps.next().done !== true) count += 1;
  return count;
}

/** Names in quotes, which the engine writes in another way; no two tests share a text. */
function longText(name: string): string {
  return `select "${name}", 'x'${', "b"'.repeat(20_000)}`;
}

function askedOf(sql: string) {
  return { ...queryOf(sql), allowedSql: sql, group: "main" };
}

function writingOf(recordsMasked: boolean) {
  const backend = { dialect: "mysql" } as Backend;
  return { host: virtualHost(7), backend, signal: new AbortController().signal, recordsMasked };
}
