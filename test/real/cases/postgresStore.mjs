/** The store, the drivers, the migrations and the upgrade on real PostgreSQL servers, each started here. */
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";
import { debianPrograms, embeddedPrograms, startPostgres } from "../postgresServer.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const nightly = process.env.GATEWAY_NIGHTLY === "1";
/** A million records are made, twice, at night on one of them. */
const testSeconds = 600;

/** The tools of these cases: true, or the reason why they are skipped. */
export async function postgresServers() {
  const [debian, embedded] = await Promise.all([debianPrograms(), embeddedPrograms()]);
  return {
    debianPostgres: debian.reason ?? true,
    postgresql: debian.reason ?? true,
    embeddedPostgres: embedded.reason ?? true,
  };
}

export const debianPostgresCases = casesOf(
  "debianPostgres",
  debianPrograms,
  nightly ? 1_000_000 : 50_000,
);
/** A newer server under the same store. Statements that it might read in another way are in the first case. */
export const embeddedPostgresCases = nightly
  ? casesOf("embeddedPostgres", embeddedPrograms, 20_000)
  : firstOf(casesOf("embeddedPostgres", embeddedPrograms, 20_000));

function firstOf({ cases, ...suite }) {
  return { ...suite, cases: Object.fromEntries(Object.entries(cases).slice(0, 1)) };
}

function casesOf(tool, programs, records) {
  return {
    tool,
    behind: "none",
    cases: {
      "driver, migrations and store over node-postgres": () =>
        onServer(programs, "postgresDrivers"),
      [`driver, migrations${nightly ? " and store" : ""} over Neon's driver and the emulator`]:
        () => onServer(programs, "postgresNeon"),
      "a connection that is lost comes back, and listeners are woken": () =>
        onServer(programs, "postgresRestart"),
      "what one control plane frees is told at another, also after a connection is cut": () =>
        onServer(programs, "postgresReplicas"),
      "the control plane as functions: deploy step, requests, upkeep": () =>
        onServer(programs, "postgresFunction"),
      [`an upgrade of ${records} records while inserts go on`]: () =>
        onServer(programs, "postgresUpgrade", { GATEWAY_TEST_RECORDS: String(records) }),
    },
  };
}

async function onServer(programs, test, more = {}) {
  const { folder } = await programs();
  const server = await startPostgres(folder);
  try {
    const vitest = [`${root}node_modules/vitest/vitest.mjs`, "run"];
    const args = [...vitest, "--root", root, "--config", "vitest.real.config.ts"];
    const env = { GATEWAY_TEST_POSTGRES: server.url, NO_COLOR: "1", ...more };
    const result = await command(process.execPath, [...args, `test/real/${test}.test.ts`], {
      env,
      seconds: testSeconds,
    });
    for (const [figure] of result.stdout.matchAll(/^figure: .*$/gm))
      console.log(`         ${figure}`);
    expectCode(result);
  } finally {
    await server.stop();
  }
}
