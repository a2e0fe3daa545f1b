/** The part of `record.mjs` that runs inside the sources of the recorded program: writes a recording to its output. */
import { readdirSync, writeFileSync } from "node:fs";
import { drizzleStore } from "@gateway/control/store/drizzle.ts";
import { testDatabase } from "@gateway/control/store/rig/database.ts";
import { systemClock } from "@gateway/gateway/host/clock.ts";
import { scenario } from "./scenario.ts";
import { recordingOf } from "./statements.ts";

const [commit = "", output = ""] = process.argv.slice(2);
await using opened = await testDatabase();
const { database, statements } = recordingOf(opened.database);
await scenario(drizzleStore(database, { clock: systemClock }));
const files = readdirSync(new URL("../../migrations/", import.meta.url));
const versions = files.flatMap((name) => /^(V\d+)__.*\.sql$/.exec(name)?.[1] ?? []).toSorted();
const recording = { commit, schema: versions.at(-1), statements };
writeFileSync(output, `${JSON.stringify(recording, null, 1)}\n`);
