/** No session meets what another one left, in whatever order their statements come. */
import type { Backend, Lane } from "@gateway/core/port/backend.ts";
import { Home } from "@gateway/core/query/home.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { commandCode } from "@gateway/wire/mysql/protocol.ts";
import fc from "fast-check";
import { expect, it } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { mysqlConfig } from "./config.ts";
import { ScriptedMysql, type Seen } from "./rig/scripted.ts";

const sessions = 3;
const step = fc.record({
  session: fc.nat(sessions - 1),
  does: fc.constantFrom("reads", "keeps", "leaves", "sets", "ends", "transacts"),
});

it.each(["transaction", "session"] as const)(
  "a connection is cleaned between two sessions, with pools by %s",
  async (poolMode) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        await using server = await ScriptedMysql.start();
        await using backend = await backendOf(server.port, poolMode);
        const homes = Array.from({ length: sessions }, () => new Home());
        for (const { session, does } of steps) {
          const home = homes[session];
          if (home === undefined) continue;
          await run(backend, home, `${session}`, does);
          if (does !== "ends") continue;
          await home[Symbol.asyncDispose]();
          homes[session] = new Home();
        }
        for (const home of homes) await home[Symbol.asyncDispose]();
        expect(met(server.seen)).toEqual([]);
      }),
      { numRuns: 30 },
    );
  },
);

const texts: Readonly<Record<string, string>> = {
  reads: "select 's%'",
  keeps: "set @s% = 1",
  leaves: "select last_insert_id(%), 's%'",
  sets: "select 's%' as sets",
  ends: "select 's%'",
};

async function run(backend: Backend, home: Home, session: string, does: string): Promise<void> {
  const own = {
    frontend: "mysqlWire",
    dialect: "mysql",
    settings: new Map(does === "sets" ? [["max_length_for_sort_data", session]] : []),
  } as const;
  const call = {
    mysql: { home, foundRows: false, ignoreSpace: false },
    takes: ["mysqlRows"],
  } as const;
  const queryOf = (sql: string) => ({ ...identifiedOf(sql, [], own), ...call });
  if (does !== "transacts")
    return await done(backend, queryOf((texts[does] ?? "").replaceAll("%", session)));
  await using lane = valueOf(await backend.begin(queryOf("begin"), never));
  await done(lane, queryOf(`select 's${session}' as inside`));
}

async function done(on: Lane, query: Identified): Promise<void> {
  const kinds: string[] = [];
  for await (const { kind } of on.execute(query, never)) kinds.push(kind);
  expect(kinds.at(-1)).toBe("done");
}

/**
 * What a session met of another: something that leaves, and no cleaning before the other's next statement. A variable
 * that both set stands as the later one set it.
 */
function met(seen: readonly Seen[]): readonly string[] {
  const left = new Map<number, { readonly session: string; readonly sets: boolean }>();
  const wrong: string[] = [];
  for (const { code, text, connection } of seen) {
    if (code === commandCode.resetConnection) left.delete(connection);
    const [, session] = /(?:'s|@s)(\d)/.exec(text) ?? [];
    if (session === undefined) continue;
    const before = left.get(connection);
    const sets = text.endsWith("as sets");
    const replaced = sets && before?.sets === true;
    if (before !== undefined && before.session !== session && !replaced)
      wrong.push(`${session} met ${before.session}: ${text}`);
    if (/@s|last_insert_id/.test(text) || sets)
      left.set(connection, { session, sets: sets && before?.sets !== false });
  }
  return wrong;
}

async function backendOf(port: number, poolMode: "transaction" | "session"): Promise<Backend> {
  const config = mysqlConfig.parse({
    engine: "mysql",
    hosts: [`127.0.0.1:${port}`],
    auth: { type: "basic", username: "ann", password: "none" },
    poolMode,
    poolSize: 4,
  });
  return valueOf(await open("c", config, hostOf()));
}
