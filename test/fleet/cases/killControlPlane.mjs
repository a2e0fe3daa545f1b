/**
 * `kill -9` of a control plane whose store is a database server, while it serves queries itself: the ids of
 * what runs lie in its `stateDir`, and its next start counts what has no record.
 */
import { embeddedPrograms, startPostgres } from "../../real/postgresServer.mjs";
import { Skip } from "../fleet.mjs";
import { killedUnderLoad } from "../killed.mjs";

export const title =
  "kill -9 of a control plane on PostgreSQL: no record is lost without being counted (I1)";

/** A start takes many seconds on a machine that has more to do. */
export const seconds = 300;

export async function run(fleet) {
  const { folder, reason } = await embeddedPrograms();
  if (folder === undefined) throw new Skip(reason);
  const server = await startPostgres(folder);
  fleet.defer(() => server.stop());
  const encryptionKey = "an encryption key of this test alone";
  await killedUnderLoad(fleet, 2, {
    persistence: { type: "postgres", url: server.url, encryptionKey },
    stateDir: await fleet.folder("state"),
  });
}
