/** A Keycloak of our own: fetched from Maven once, started on a free port with the realm beside it. */
import { copyFile, cp, mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { archiveHome, installArchive, javaHome, startServer } from "./java.mjs";
import { freePort } from "./trinoServer.mjs";

const version = "26.4.7";
const javaLeast = 17;
const startSeconds = 180;
const home = archiveHome("keycloak", `keycloak-${version}`);
const realm = fileURLToPath(new URL("keycloakRealm.json", import.meta.url));

/** True, or the reason why there is none. */
export async function installKeycloak() {
  if ((await javaHome(javaLeast)) === undefined) return `there is no JDK ${javaLeast} or newer`;
  const artifact = `org.keycloak:keycloak-quarkus-dist:${version}:tar.gz`;
  return await installArchive("keycloak", `keycloak-${version}`, artifact);
}

/** Starts one and waits until its realm answers. `stop` ends it and removes what it wrote. */
export async function startKeycloak() {
  // It writes into its own folder, and two runs must not share one.
  const run = await mkdtemp(join(tmpdir(), "keycloak-"));
  await cp(home, run, { recursive: true });
  await mkdir(join(run, "data", "import"), { recursive: true });
  await copyFile(realm, join(run, "data", "import", "gateway-realm.json"));
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}/realms/gateway`;
  const stop = await startServer({
    name: "Keycloak",
    program: join(run, "bin", "kc.sh"),
    args: [
      "start-dev",
      "--import-realm",
      "--db=dev-mem",
      "--http-host=127.0.0.1",
      `--http-port=${port}`,
    ],
    env: { JAVA_HOME: await javaHome(javaLeast), JAVA_OPTS_KC_HEAP: "-Xms64m -Xmx512m" },
    run,
    seconds: startSeconds,
    isReady: () => isReady(issuer),
  });
  return { issuer, tokenOf: (user) => tokenOf(issuer, user), stop };
}

/** An access token that the user got from an application; its audience is the gateway. */
async function tokenOf(issuer, user) {
  const answer = await fetch(`${issuer}/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "password",
      client_id: "app",
      username: user,
      password: `${user}-secret`,
    }),
  });
  const { access_token: token } = await answer.json();
  if (token === undefined) throw new Error(`Keycloak gives no token for ${user}`);
  return token;
}

async function isReady(issuer) {
  try {
    const place = `${issuer}/.well-known/openid-configuration`;
    return (await fetch(place, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}
