/** The store's tables and functions on PGlite as a stage of the simulation: the database's clock is the virtual one. */
import type { Database } from "@gateway/control/store/database.ts";
import { drizzleStore } from "@gateway/control/store/drizzle.ts";
import { asked, emptyTables } from "@gateway/control/store/rig/database.ts";
import { virtualHost, virtualStartUnixMs } from "@gateway/core/rig/virtual.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import { realControl } from "./leasedControl.ts";
import type { Stage } from "./leasedPlay.ts";

/** Every function of the database reads its time here, and nowhere else. */
const virtualNow = `create or replace function capacity_now() returns bigint language sql volatile as $$
  select current_setting('sim.now_ms')::bigint
$$`;

/** An empty stage on `database`, which is used for nothing else meanwhile. */
export async function tablesStage(database: Database, seed: number): Promise<Stage> {
  await asked(database, virtualNow);
  await emptyTables(database);
  const asking = new Set<symbol>();
  const host = virtualHost(seed, undefined, async () => {
    while (asking.size > 0) await nextTurn();
  });
  const timed: Database = {
    ...database,
    run: async (sql, parameters) => {
      const statement = Symbol(sql);
      asking.add(statement);
      try {
        const now = String(virtualStartUnixMs + host.clock.nowMs());
        await asked(database, "select set_config('sim.now_ms', $1, false)", [now]);
        return await database.run(sql, parameters);
      } finally {
        asking.delete(statement);
      }
    },
  };
  const store = drizzleStore(timed, { clock: host.clock });
  return { host, controlOf: (caps) => realControl(host, caps, store) };
}
