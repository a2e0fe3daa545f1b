/** F7, F8, F9: what comes instead of a snapshot is damaged, wrong or old, and is never activated. */
import { gzipSync } from "node:zlib";
import { askPg } from "../ask.mjs";
import { flipped, signed, snapshotIn, textIn, withText } from "../forge.mjs";
import { activeAt, ready, rejections, statusOf } from "../ops.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title = "F7, F8, F9: damaged, wrong and replayed snapshots are refused (I6)";

const bombBytes = 100 * 1024 * 1024;
const twoRows = "select * from range(2)";

/** Each makes another answer of a good one; `forge` signs a changed body with the fleet's own secret. */
const damages = [
  damageOf("a bit in the compressed bytes", (good) => ({ ...good, body: flipped(good.body) })),
  damageOf("a bit in the text", (good) => withText(good, flipped(Buffer.from(textIn(good))))),
  damageOf("half of the text", (good) => withText(good, textIn(good).slice(0, -200))),
  damageOf("half of the bytes", (good) => ({ ...good, body: good.body.subarray(0, 200) })),
  failureOf("a connection that ends", (good) => ({ ...good, cutAt: good.body.length - 50 })),
  failureOf("a length that is too long", (good) => {
    const { length } = good.body;
    return { ...good, cutAt: length, length: length + 100 };
  }),
  damageOf("a compressed bomb", (good) => withText(good, Buffer.alloc(bombBytes, " "))),
  damageOf("a page of a proxy", (good) => withText(good, "<html>welcome</html>")),
  damageOf("an empty answer", (good) => ({ ...good, body: gzipSync("") })),
  damageOf("ten times the size", (good) =>
    withText(good, textIn(good).replace(/\}$/, `,"x":"${"y".repeat(50_000)}"}`)),
  ),
  damageOf("a version of later", (_good, forge) => forge((body) => body, { schemaVersion: 99 })),
  damageOf("a field that is missing", (_good, forge) =>
    forge(({ routers: _routers, ...body }) => body),
  ),
  damageOf("a field that is null", (_good, forge) =>
    forge((body) => ({ ...body, clusters: null })),
  ),
  damageOf("a field of later", (_good, forge) => forge((body) => ({ ...body, later: {} }))),
  damageOf("the mac of another fleet", (good) =>
    signed(good, snapshotIn(good), "a secret of another fleet entirely"),
  ),
];

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const gate = gateOf();
  const relay = await fleet.relay(control.port, { answer: gate.answer });
  const worker = await fleet.worker("w1", relay.url);
  await worker.open().then(ready);
  const first = gate.newest;
  // Made here and there by different code: what follows is only worth something when they agree.
  const remade = signed(first, snapshotIn(first), fleet.secret);
  same(snapshotIn(remade), snapshotIn(first), "a snapshot that is signed again");

  let active = (await statusOf(worker)).activeRevision;
  let wide = true;
  for (const { name, counted, damage } of damages) {
    const before = await rejections(worker);
    gate.close((good) => damage(good, forgeOf(good, fleet.secret)));
    wide = !wide;
    const revision = await control.admin.editGroup({ maxRows: wide ? 2 : 1 });
    await until(`${name}: it was served and the worker came again`, () => gate.waiting > 0);
    const status = await statusOf(worker);
    judgeKept(status, active, name);
    check(status.lastError !== null && status.consecutiveFailures > 0, `${name}: nothing is said`);
    const counts = (await rejections(worker)) - before;
    same(counts, counted ? 1 : 0, `${name}: refusals counted (${status.lastError})`);
    same(await askPg(worker, twoRows), wide ? "54000" : "0", `${name}: the old configuration`);
    gate.open();
    await activeAt(worker, revision);
    same(await askPg(worker, twoRows), wide ? "0" : "54000", `${name}: the new configuration`);
    // One that is whole is taken over: what the judge must not let pass.
    const taken = await statusOf(worker);
    await notices("a snapshot that is activated", () => judgeKept(taken, active, name), /active/);
    active = revision;
  }
  fleet.figure(`${damages.length} kinds of damage, none activated, each counted once`);
  await replays(fleet, { control, worker, gate, first, active });
  await differences({ control, worker, relay });
}

/** One that leads nowhere is refused, and followed by the whole. */
async function differences({ control, worker, relay }) {
  const statuses = [];
  relay.rules = {
    splices: true,
    answer: ({ path }, good) => {
      if (path !== "/worker/config") return undefined;
      statuses.push(good.status);
      if (good.status !== 226) return undefined;
      const body = Buffer.from(good.body);
      body[body.length - 1] ^= 1;
      return { ...good, body };
    },
  };
  const before = await rejections(worker);
  await activeAt(worker, await control.admin.editGroup({ maxRows: 5 }), 60);
  same(statuses, [226, 200], "a damaged difference, and what was asked for then");
  same((await rejections(worker)) - before, 1, "refusals counted");
}

function judgeKept({ activeRevision }, active, name) {
  same(activeRevision, active, `${name}: the active revision`);
}

function damageOf(name, damage) {
  return { name, damage, counted: true };
}

/** It does not come whole: a failed call, and not a refused snapshot. */
function failureOf(name, damage) {
  return { name, damage, counted: false };
}

function forgeOf(good, secret) {
  const { head, body } = snapshotIn(good);
  return (change, more) => signed(good, { head, body: change(body) }, secret, more);
}

/** An authentic snapshot and an authentic head of before. */
async function replays(fleet, { control, worker, gate, first, active }) {
  gate.close(() => first);
  const next = await control.admin.editGroup({ maxRows: 3 });
  await until("the old snapshot was served", () => gate.waiting > 0);
  judgeKept(await statusOf(worker), active, "after a replayed snapshot");
  gate.open();
  await activeAt(worker, next);

  const head = JSON.stringify({ head: snapshotIn(first).head });
  const seen = gate.replay(head);
  const last = await control.admin.editGroup({ maxRows: 4 });
  await until("old heads were served", () => seen() >= 3, 60);
  judgeKept(await statusOf(worker), next, "after replayed heads");
  gate.open();
  await activeAt(worker, last, 60);
  fleet.figure("replayed snapshots and heads: no step back");
}

/** Rules of a relay: damages one snapshot, then keeps the worker waiting until it is opened. */
function gateOf() {
  const gate = { newest: undefined, waiting: 0, answer, close, open, replay };
  let damage;
  let held;
  let release = () => {};
  let heads;

  async function answer({ path }, good) {
    if (path.startsWith("/worker/config/wait") && heads !== undefined) {
      heads.count += 1;
      return { ...good, status: 200, headers: jsonHeaders, body: Buffer.from(heads.text) };
    }
    if (path === "/worker/config" && damage !== undefined && good.status === 200) {
      const change = damage;
      damage = undefined;
      held = new Promise((resolve) => {
        release = resolve;
      });
      return change(good);
    }
    if (path.startsWith("/worker/config") && held !== undefined) {
      gate.waiting += 1;
      await held;
      gate.waiting -= 1;
    }
    if (path === "/worker/config" && good.status === 200) gate.newest = good;
    return undefined;
  }

  function close(change) {
    damage = change;
  }

  function open() {
    heads = undefined;
    held = undefined;
    release();
  }

  /** Answers how many heads were served since. */
  function replay(text) {
    const since = { text, count: 0 };
    heads = since;
    return () => since.count;
  }

  return gate;
}

const jsonHeaders = { "content-type": "application/json" };
