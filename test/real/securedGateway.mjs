/** A gateway that asks for passwords and has a certificate, with one embedded DuckDB behind it. */
import { join } from "node:path";
import { hashSync } from "bcryptjs";
import { certificateIn, freePlace, startConfigured } from "./configuredGateway.mjs";

/** Starts it; alice's password is alice-secret. Answers `{ports, caFile, stop}`, the ports by frontend. */
export async function startSecuredGateway() {
  const made = async (folder) => configOf(await certificateIn(folder));
  const { ports, folder, stop } = await startConfigured(made);
  return { ports, caFile: join(folder, "cert.pem"), stop };
}

function configOf(tls) {
  const alice = { passwordHash: hashSync("alice-secret", 6) };
  return {
    gateway: {
      frontends: { mysqlWire: { ...freePlace, tls } },
      adminApi: freePlace,
      persistence: { type: "inMemory" },
    },
    clusters: { local: { engine: "duckDb" } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: 4 } },
    routingFallback: "default",
    auth: { provider: "static", staticUsers: { users: { alice } } },
  };
}
