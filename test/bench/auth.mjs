/**
 * `node --import tsx test/bench/auth.mjs`: what a request whose login was verified a moment ago costs
 * on the main thread, with 1,000 users, and what 200 new logins do to a client that is in.
 */
import { oidcAuthenticator } from "@gateway/access/client/oidc/oidc.ts";
import { oidcSchema } from "@gateway/access/client/oidc/config.ts";
import { staticAuthenticator } from "@gateway/access/client/static/static.ts";
import { Secret } from "@gateway/core/secret.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";
import { hashSync } from "bcryptjs";
import { FakeOidc } from "../fake/oidc.ts";
import { reportBurst } from "./authBurst.mjs";

const users = 1_000;
const requests = 200_000;
const bundle = new URL("../../packages/gateway/dist/", import.meta.url);
const host = nodeHost(bundle, "silent");
const at = { frontend: "trinoHttp", address: "127.0.0.1" };
const names = Array.from({ length: users }, (_, n) => `user${n}`);

const provider = await FakeOidc.start("ES256");
const oidc = oidcSchema.parse({ issuer: provider.issuer, audience: "gateway" });
const byToken = oidcAuthenticator({ required: true, oidc }, host);
const tokens = await Promise.all(
  names.map(async (sub) => ({
    kind: "bearer",
    token: new Secret(await provider.token({ claims: { sub, groups: ["a", "b"] } })),
    claimedUser: undefined,
  })),
);
await report("oidc, verified", byToken, tokens);

// The cheapest hash: what is measured is everything but bcrypt.
const passwordHash = hashSync("secret", 4);
const entries = Object.fromEntries(
  names.map((name) => [name, { passwordHash, groups: [], roles: [] }]),
);
const config = { required: true, staticUsers: { users: entries } };
const byPassword = staticAuthenticator(config, host);
const passwords = names.map((user) => ({ kind: "password", user, password: new Secret("secret") }));
for (let from = 0; from < users; from += 100) {
  await admitAll(byPassword, passwords.slice(from, from + 100));
}
await report("static, verified", byPassword, passwords);

for (const owned of [byToken, byPassword, provider]) await owned[Symbol.asyncDispose]();

await reportBurst();

async function report(what, authenticator, shown) {
  await admitAll(authenticator, shown);
  const before = process.cpuUsage();
  const begun = performance.now();
  for (let n = 0; n < requests; n += 1) {
    const login = await authenticator.authenticate(shown[n % users], at);
    if (!login.ok) throw new Error(login.error.code);
  }
  const { user, system } = process.cpuUsage(before);
  const wall = ((performance.now() - begun) * 1000) / requests;
  const cpu = (user + system) / requests;
  console.log(`${what}: ${cpu.toFixed(1)} µs of CPU, ${wall.toFixed(1)} µs of time a request`);
}

async function admitAll(authenticator, shown) {
  const logins = await Promise.all(shown.map((one) => authenticator.authenticate(one, at)));
  const refused = logins.find(({ ok }) => !ok);
  if (refused !== undefined) throw new Error(refused.error.code);
}
