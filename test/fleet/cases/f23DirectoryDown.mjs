/**
 * F23: the directory is down, silent, refers to another one, answers nonsense, or has a certificate that nobody signed.
 * Each login then fails as what it is, within the time limit, and nothing of it reaches the engine.
 */
import { askPg, askTrino } from "../ask.mjs";
import { startEngine } from "../engine.mjs";
import { servingConfig } from "../fleet.mjs";
import { atNight } from "../night.mjs";
import { ready } from "../ops.mjs";
import { rigOf } from "../rigs.mjs";
import { clientsOf } from "../shared.mjs";
import { notices, same } from "../wait.mjs";

export const title =
  "F23: a directory that is down, refers or has a bad certificate lets nobody in (I5, I10)";

const base = "ou=people,dc=example,dc=org";
const users = 12;
const moods = ["silent", "referring", "garbage", "hangingUp", "busy", "endless"];
/** A directory in trouble is no wrong password, which a client would ask its user for again. */
const unavailable = "57P03";

export async function run(fleet) {
  atNight("three fleets and their logins take half a minute");
  const { FakeLdap } = await rigOf("test/fake/ldap.ts");
  const { certificateOf } = await rigOf("packages/frontends/src/listener/rig/certificate.ts");
  const directory = await started(fleet, FakeLdap, {});
  const stranger = await started(fleet, FakeLdap, { tls: certificateOf("localhost"), ldaps: true });
  const engine = await startEngine(fleet);
  const worker = await workerOf(fleet, engine, directory, "clear");
  const other = await workerOf(fleet, engine, stranger, "tls");
  let asked = 0;
  const login = (gateway, password = "secret") => {
    const user = `user${asked++ % users}`;
    return askPg(gateway, `select '0 ms ${user}'`, { user, password });
  };

  same(await login(worker), "1", "a login while all is well");
  same(await login(worker, "wrong"), "28P01", "a wrong password");
  same(await login(worker, ""), "28P01", "no password");
  const admitted = clientsOf(engine).length;
  for (const mood of moods) {
    directory.mood = mood;
    same(await login(worker), unavailable, `${mood}: a login`);
  }
  same(await login(other), unavailable, "a certificate that nobody signed");
  same(stranger.binds, [], "passwords that a directory with such a certificate was shown");
  await directory[Symbol.asyncDispose]();
  same(await login(worker), unavailable, "down: a login");
  same(await askTrino(worker, "select 1"), "401", "a request without a credential meanwhile");

  const judge = () => same(clientsOf(engine).length, admitted, "statements at the engine (I5)");
  judge();
  fleet.figure(`${moods.length + 2} ways to fail, each told as ${unavailable}; 0 statements`);
  // One that is let in: what the judge must not let pass.
  const again = await workerOf(fleet, engine, await started(fleet, FakeLdap, {}), "again");
  await login(again);
  await notices("a statement of a login", judge, /I5/);
}

async function started(fleet, FakeLdap, options) {
  const entries = Array.from({ length: users }, (_, number) => ({
    dn: `uid=user${number},${base}`,
    attributes: { uid: [`user${number}`] },
    password: "secret",
  }));
  const directory = await FakeLdap.start({ entries, ...options });
  let open = true;
  const end = directory[Symbol.asyncDispose].bind(directory);
  directory[Symbol.asyncDispose] = async () => {
    if (open) await end();
    open = false;
  };
  fleet.defer(() => directory[Symbol.asyncDispose]());
  return directory;
}

async function workerOf(fleet, engine, directory, name) {
  const ldap = { url: directory.url, userSearchBase: base, timeoutMs: 5_000 };
  const config = {
    ...servingConfig,
    clusters: { local: { engine: "trino", endpoint: engine.url } },
    auth: { provider: "ldap", ldap },
  };
  const control = await fleet.controlPlane({ config, name: `control-${name}` });
  await control.open();
  const worker = await fleet.worker(name, `http://127.0.0.1:${control.port}`);
  return worker
    .open()
    .then(ready)
    .then(() => worker);
}
