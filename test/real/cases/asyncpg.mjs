/** asyncpg: binary formats everywhere, and types that it asks the catalogs about. */
import { deepStrictEqual } from "node:assert/strict";
import { runPython } from "./pythonPostgresTool.mjs";

const prelude = `
import asyncio, asyncpg, json, sys
async def connect():
    return await asyncpg.connect(host="127.0.0.1", port=int(sys.argv[1]), user="alice", database="memory")
def show(work):
    async def run():
        c = await connect()
        try:
            print(json.dumps(await work(c)))
        finally:
            await c.close()
    asyncio.run(run())
`;

export const asyncpgCases = {
  tool: "pythonPostgres",
  cases: {
    "asyncpg: parameters and results of catalogs are typed and binary": async (gateway) => {
      const seen = await runPython(
        gateway,
        `${prelude}
async def work(c):
    s = await c.prepare("select relname, relkind, oid from pg_class where relkind = $1 and relname = any($2::name[]) order by 1")
    rows = await s.fetch(b"r", ["orders", "customers"])
    return [[t.name for t in s.get_parameters()], [a.type.name for a in s.get_attributes()], [[r[0], r[1].decode()] for r in rows]]
show(work)`,
      );
      deepStrictEqual(seen, [
        ["char", "name[]"],
        ["name", "char", "oid"],
        [
          ["customers", "r"],
          ["orders", "r"],
        ],
      ]);
    },
    "asyncpg: arrays, JSON and a type codec": async (gateway) => {
      const seen = await runPython(
        gateway,
        `${prelude}
async def work(c):
    await c.set_type_codec("json", encoder=json.dumps, decoder=json.loads, schema="pg_catalog")
    numbers = await c.fetchval("select $1::int[]", [1, None, 3])
    keys = await c.fetchval("select indkey from pg_index where indexrelid = 'pg_class_relname_nsp_index'::regclass")
    details = await c.fetchval("select details from events where details is not null order by event_id limit 1")
    return [numbers, list(keys), type(details).__name__]
show(work)`,
      );
      deepStrictEqual(seen, [[1, null, 3], [2, 3], "dict"]);
    },
  },
};
