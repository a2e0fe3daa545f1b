/**
 * Makes the configurations that activation.mjs takes up, and sends their bytes: in the process that is
 * watched, making them would leave work for the collector that no worker has.
 */
import { buildBody } from "@gateway/control/config/snapshot/build.ts";

const [count, bodies] = process.argv.slice(2).map(Number);
process.send(
  Array.from({ length: bodies }, (_, round) => bodyOf(`round ${round}`)),
  () => process.exit(),
);

/** Of one team. Clusters, groups with lists, and users, so many of each; one cluster is opened. */
function bodyOf(team) {
  const names = Array.from({ length: count }, (_, index) => index);
  const clusters = names.map((index) => ({
    kind: "cluster",
    name: `cluster${index}`,
    body: { engine: "duckDb", enabled: index === 0, poolSize: 4, memoryLimit: "512MB" },
  }));
  const groups = names.map((index) => ({
    kind: "clusterGroup",
    name: `group${index}`,
    body: {
      members: [`cluster${index}`],
      maxRunningQueries: 4,
      authorization: { allowGroups: ["readers", "writers"] },
      defaultTags: { team },
    },
  }));
  const users = Object.fromEntries(
    names.map((index) => [
      `user${index}`,
      { passwordHash: `$2b$10$${"a".repeat(53)}`, groups: ["readers"], roles: ["analyst"] },
    ]),
  );
  const auth = { provider: "static", staticUsers: { users } };
  const setting = { kind: "setting", name: "auth", body: auth };
  return buildBody([...clusters, ...groups, setting]).bytes;
}
