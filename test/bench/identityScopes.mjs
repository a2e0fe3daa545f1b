/** Measures scopes of callers in a process of its own; tells its parent. The first argument is the folder of the recording driver, or nothing. */
import { readdirSync, readFileSync } from "node:fs";
import { tokenExchange } from "@gateway/access/exchange/exchange.ts";
import { messageFrames, nextRequest } from "@gateway/engines/native/frames.ts";
import { Connections } from "@gateway/engines/adbc/client/connections.ts";
import { open } from "@gateway/engines/adbc/adapter.ts";
import { adbcConfig } from "@gateway/engines/adbc/config.ts";
import { profileOf } from "@gateway/engines/adbc/profile.ts";
import { scopeKey } from "@gateway/engines/adbc/scope/scopeKey.ts";
import { ScopedConnections } from "@gateway/engines/adbc/scope/scoped.ts";
import { Scopes } from "@gateway/engines/adbc/scope/scopes.ts";
import { Secret } from "@gateway/core/secret.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";
import { FakeTokenEndpoint } from "../fake/tokenEndpoint.ts";

const host = nodeHost(new URL("../../packages/gateway/dist/", import.meta.url), "silent");
const never = new AbortController().signal;
const rounds = 7;
const perRound = 50_000;
const limit = 500;
const [, , folder = ""] = process.argv;

// Nothing that waits for a driver keeps a process alive by itself.
const alive = setInterval(() => {}, 1_000);
const hits = await hitCosts();
const exchanged = await exchangeCosts();
const held = await heldMemory();
const processes = folder === "" ? undefined : [await realProcesses(1), await realProcesses(16)];
clearInterval(alive);
process.send({ hits, exchanged, held, processes }, () => process.exit());

async function hitCosts() {
  const watcher = { added() {}, removed() {}, bug() {} };
  const limits = { idleMs: 900_000, countMax: limit, buildsMax: 8, waitingMax: 1_024 };
  const scopes = new Scopes(host.clock, limits, watcher);
  const callers = Array.from({ length: limit }, (_, n) => callerOf(`user${n}`));
  const build = async () => ({ ok: true, value: { close: async () => {} } });
  const lookUp = async ({ principal, credential }) => {
    const parts = ["passthrough", principal, credential.password, undefined, undefined];
    const wish = { key: scopeKey(parts), group: "bench", build };
    const found = await scopes.take(wish, never);
    found.value[Symbol.dispose]();
  };
  const { scoped } = scopedOf(stubThreads());
  const take = async (caller) => {
    const { value } = await scoped.take(queryOf(caller), false, never);
    value.taken.goTo(value.place);
    await value.taken.release();
  };
  const lookup = await timed(lookUp, callers);
  const taken = await timed(take, callers);
  await scoped.close();
  return { lookup, taken };
}

/** Tokens that an endpoint gave before: what finding one again costs. */
async function exchangeCosts() {
  const endpoint = await FakeTokenEndpoint.start();
  const exchange = tokenExchange(
    "bench",
    {
      type: "tokenExchange",
      tokenEndpoint: endpoint.url,
      clientId: "gateway",
      clientSecret: "secret",
      subjectTokenType: "urn:ietf:params:oauth:token-type:access_token",
      clientAuth: "post",
      timeoutMs: 10_000,
    },
    host,
  );
  const callers = Array.from({ length: limit }, (_, n) => ({
    // As long as a provider's.
    token: new Secret(`${n}`.padEnd(1_100, "t")),
    identity: { user: `user${n}`, groups: [], roles: [], method: "oidc", realm: "bench" },
  }));
  const found = await timed(async ({ token, identity }) => {
    const answer = await exchange.exchange(token, identity, never);
    if (!answer.ok) throw new Error(answer.error.code);
  }, callers);
  await exchange[Symbol.asyncDispose]();
  await endpoint[Symbol.asyncDispose]();
  return found;
}

async function timed(work, callers) {
  for (const caller of callers) await work(caller);
  const found = [];
  for (let round = 0; round <= rounds; round += 1) {
    const from = performance.now();
    for (let n = 0; n < perRound; n += 1) await work(callers[(n * 7) % callers.length]);
    // The first round warms up.
    if (round > 0) found.push(((performance.now() - from) * 1_000) / perRound);
  }
  return found;
}

/** Each round asks as 600 callers; a stub stands for each of their processes. */
async function heldMemory() {
  const threads = stubThreads();
  const { scoped } = scopedOf(threads);
  const identities = limit + 100;
  const heapMb = [];
  for (let round = 0; round < rounds; round += 1) {
    for (let n = 0; n < identities; n += 1) {
      const { value } = await scoped.take(queryOf(callerOf(`user${n}`)), false, never);
      await value.taken.release();
    }
    await new Promise(setImmediate);
    globalThis.gc();
    heapMb.push(process.memoryUsage().heapUsed / 1e6);
  }
  const ended = threads.ended.count;
  const left = threads.started.count - ended;
  await scoped.close();
  return { identities, limit, open: left, ended, heapMb };
}

/** The recording driver in real processes, as many callers as are kept and some more. */
async function realProcesses(perProcess) {
  const kept = 100;
  const identities = 110;
  const config = adbcConfig.parse({
    engine: "adbc",
    driver: "snowflake",
    uri: "http://127.0.0.1:9",
    dbKwargs: { "adbc.snowflake.sql.account": "bench" },
    queryAuth: { type: "passthrough" },
    scopedPoolMaxCount: kept,
    scopedPoolConnectionsPerProcess: perProcess,
  });
  const backend = (await open("bench", config, { ...host, libraryFolders: [folder] })).value;
  const firstMs = [];
  let most = 0;
  for (let n = 0; n < identities; n += 1) {
    const from = performance.now();
    for await (const event of backend.execute(queryOf(callerOf(`user${n}`)), never)) {
      if (event.kind === "failed") throw new Error(event.error.code);
    }
    firstMs.push(performance.now() - from);
    most = Math.max(most, childrenOf(process.pid).length);
  }
  const pssMb = childrenOf(process.pid).reduce((sum, pid) => sum + pssOf(pid), 0);
  await backend[Symbol.asyncDispose]();
  const left = childrenOf(process.pid).length;
  return { identities, limit: kept, perProcess, most, left, pssMb, firstMs };
}

function childrenOf(pid) {
  const found = [];
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const line = readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim();
    if (line !== "") found.push(...line.split(" ").map(Number));
  }
  return found.filter((child) =>
    readFileSync(`/proc/${child}/cmdline`, "utf8").includes("adbcProcess"),
  );
}

/** What it shares with others counts in parts. */
function pssOf(pid) {
  const [, kilobytes = "0"] = /^Pss:\s+(\d+)/m.exec(
    readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"),
  );
  return Number(kilobytes) / 1_000;
}

function scopedOf(threads) {
  const quiet = { ...host, threads };
  const options = async () => ({ ok: true, value: { options: [], setup: [] } });
  const plan = {
    cluster: "bench",
    profile: profileOf("snowflake"),
    library: { library: "none", entrypoint: "none", inspect: "none" },
    size: 1,
    limits: { cancelMs: 5_000, cancelAgainMs: 250, connectMs: 20_000, idleMs: 300_000 },
    shared: { key: "bench", settings: "" },
    options,
  };
  const scoped = {
    mode: "passthrough",
    hasAccount: false,
    catalogs: [],
    home: [undefined, undefined, undefined, undefined],
    idleMs: 900_000,
    countMax: limit,
    connectionsPerProcess: 16,
    optionsAs: options,
  };
  const own = new Connections(plan, quiet);
  return { scoped: new ScopedConnections(plan, scoped, own, quiet) };
}

/** Processes that answer everything at once. */
function stubThreads() {
  const started = { count: 0 };
  const ended = { count: 0 };
  const spawn = () => {
    started.count += 1;
    let tellEnd = () => {};
    return {
      line: (_, reader) => stubLine(reader),
      post: () => {},
      onMessage: () => {},
      onExit: (handle) => {
        tellEnd = handle;
      },
      kill: () => {
        ended.count += 1;
        queueMicrotask(() => tellEnd({ how: "killed", lastWords: "" }));
      },
    };
  };
  return { spawn, started, ended };
}

function stubLine(reader) {
  const opened = { kind: "opened", opened: { address: 1, skipped: [] } };
  const write = (bytes) => {
    const { request } = nextRequest(readerOf(bytes));
    const value = request.kind === "openDatabase" ? opened : { kind: "done" };
    const frames = messageFrames([{ kind: "reply", reply: { ok: true, value } }]);
    queueMicrotask(() => feed(reader, Buffer.concat(frames)));
  };
  return { write, resume: () => {}, ref: () => {} };
}

function readerOf(bytes) {
  let at = 0;
  return (into) => {
    const some = bytes.subarray(at, at + into.length);
    into.set(some);
    at += some.length;
    return some.length;
  };
}

function feed(reader, bytes) {
  for (let at = 0; at < bytes.length;) {
    const place = reader.place();
    const piece = bytes.subarray(at, at + place.length);
    place.set(piece);
    at += piece.length;
    reader.take(piece.length);
  }
}

function callerOf(user) {
  const credential = { kind: "password", user, password: new Secret(`${user}-secret`) };
  return { mode: "passthrough", principal: user, credential };
}

function queryOf(backendIdentity) {
  return {
    id: "bench",
    sql: "select 1",
    allowedSql: "select 1",
    engineSql: "select 1",
    parameters: [],
    takes: [],
    group: "bench",
    slot: { cluster: "bench", fence: 0, holder: "bench/0" },
    session: { frontend: "bench", dialect: "generic", settings: new Map() },
    backendIdentity,
  };
}
