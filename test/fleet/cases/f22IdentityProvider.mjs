/**
 * F22: the provider of identities is down, slow, changes its keys, and is asked for keys that nobody has. Keys that are
 * known serve, a withdrawn one does not, and a thousand tokens with keys of their own are no thousand questions.
 */
import { randomBytes } from "node:crypto";
import { request } from "node:http";
import { count as addCount } from "../../evidence/counted.mjs";
import { askPg } from "../ask.mjs";
import { startEngine } from "../engine.mjs";
import { servingConfig } from "../fleet.mjs";
import { ready } from "../ops.mjs";
import { rigOf } from "../rigs.mjs";
import { clientsOf } from "../shared.mjs";
import { check, notices, same, sameInSomeOrder, timed } from "../wait.mjs";

export const title =
  "F22: the identity provider is down, slow and changes keys; unknown keys are not asked for (I5, I10)";

const strangers = 1_000;
const lanes = 8;
const attempt = "select '0 ms stranger'";
/** One for what the first stranger may have caused, one for what was under way. */
const questionsMost = 2;
/** After it keys may be asked for again: a busy machine takes longer than that for all strangers. */
const restSecs = 30;

export async function run(fleet) {
  const { FakeOidc } = await rigOf("test/fake/oidc.ts");
  const provider = await FakeOidc.start();
  fleet.defer(() => provider[Symbol.asyncDispose]());
  const engine = await startEngine(fleet);
  const oidc = { issuer: provider.issuer, audience: "gateway", timeoutMs: 5_000 };
  const config = {
    ...servingConfig,
    clusters: { local: { engine: "trino", endpoint: engine.url } },
    auth: { provider: "oidc", oidc },
  };
  const control = await fleet.controlPlane({ config });
  await control.open();
  const worker = await fleet.worker("w1", `http://127.0.0.1:${control.port}`, { ages: true });
  await worker.open().then(ready);
  const logins = loginsOf(worker, provider);

  same(await logins.ask("alice"), "1", "a login while all is well");
  await provider.stop();
  same(await logins.ask("bob"), "1", "a login with a known key while the provider is down");
  await provider.restart();

  const before = keysAsked(provider);
  const { value: codes, ms } = await timed(() => asStrangers(worker, provider, strangers));
  const most = questionsMost + Math.floor(ms / 1_000 / restSecs);
  same(codes, { 401: strangers }, "answers to tokens with unknown keys");
  const judge = () => check(keysAsked(provider) - before <= most, "asked for each key");
  judge();
  addCount("badInputs", strangers);
  fleet.figure(
    `${strangers} unknown keys: ${keysAsked(provider) - before} questions to the provider`,
  );
  same(await logins.ask("alice"), "1", "a login after them");

  const withdrawn = await provider.token();
  await provider.rotate();
  await worker.age();
  same(await logins.ask("alice"), "1", "a login with a new key");
  same(await logins.ask("alice", withdrawn), "28P01", "a token of a key that was withdrawn");

  provider.mood = "silent";
  await worker.age();
  same(await logins.ask("alice"), "1", "a login with a known key while the provider is silent");
  await provider.rotate();
  check(/^(28P01|57P03)$/.test(await logins.ask("alice")), "a key that can not be asked for");
  provider.mood = "well";

  // By its own log the engine ran those that were let in, and of nobody else anything.
  const ran = clientsOf(engine).map(({ sql }) => sql);
  sameInSomeOrder(ran, logins.admitted, "statements at the engine (I5)");
  // A clock that lets each question be the first after a rest: what the judge must not let pass.
  for (let number = 0; number <= most; number += 1) {
    await worker.age();
    await asStrangers(worker, provider, 1);
  }
  await notices("a question for each unknown key", judge, /asked for each key/);
}

function loginsOf(worker, provider) {
  const admitted = [];
  let asked = 0;
  const ask = async (user, given) => {
    const password = given ?? (await provider.token({ claims: { sub: user } }));
    const sql = `select '0 ms login ${(asked += 1)}'`;
    const answer = await askPg(worker, sql, { user, password });
    if (answer === "1") admitted.push(sql);
    return answer;
  };
  return { admitted, ask };
}

function keysAsked(provider) {
  return provider.asked.filter((path) => path.endsWith("/keys")).length;
}

/** Tokens that are right but for a key that nobody published, each from an address of its own: counts by status. */
async function asStrangers(worker, provider, count) {
  const codes = {};
  let next = 0;
  const lane = async () => {
    for (let number = next++; number < count; number = next++) {
      const token = await provider.token({ header: { kid: randomBytes(8).toString("hex") } });
      const localAddress = `127.1.${Math.floor(number / 250)}.${(number % 250) + 1}`;
      const code = await statusFor(worker.ports.trinoHttp, token, localAddress);
      codes[code] = (codes[code] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return codes;
}

function statusFor(port, token, localAddress) {
  const options = { host: "127.0.0.1", port, path: "/v1/statement", method: "POST", localAddress };
  const headers = { authorization: `Bearer ${token}`, "content-length": attempt.length };
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, headers, agent: false }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode));
    });
    sent.once("error", reject);
    sent.end(attempt);
  });
}
