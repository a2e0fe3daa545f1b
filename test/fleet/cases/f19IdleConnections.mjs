/**
 * F19: thousands of connections that are open and silent, and a hundred that ask. All are served, a silent one costs
 * what is printed here, and nothing of it stays. 9,500 at night; `FLEET_IDLE` says how many else.
 */
import { cellOf, pgClient } from "../ask.mjs";
import { Skip } from "../fleet.mjs";
import { ready } from "../ops.mjs";
import { descriptorsOf, memoryOf, mib } from "../processOf.mjs";
import { mysqlIdle, openSocket, pgIdle } from "../rawLogins.mjs";
import { check, notices, same, until } from "../wait.mjs";

const night = process.env.GATEWAY_NIGHTLY === "1";
const idle = Number(process.env.FLEET_IDLE ?? 9_500);
const active = 100;
const questionsOfClient = 20;
export const title = `F19: ${idle} idle connections beside ${active} that ask (I9, I10)`;
export const seconds = 600;

/** One address may have two thousand. */
const perAddress = 1_000;
const lanes = 16;
/** Of one silent connection: its buffers and states, and what the heap has not given back yet. */
const bytesMost = 64 * 1024;
const descriptorsSlack = 32;
const wires = { postgresWire: pgIdle, mysqlWire: mysqlIdle };

export async function run(fleet) {
  if (!night && process.env.FLEET_IDLE === undefined) throw new Skip("thousands, at night");
  const control = await fleet.controlPlane();
  await control.open();
  const worker = await fleet.worker("w1", `http://127.0.0.1:${control.port}`, { collects: true });
  await worker.open().then(ready);
  const descriptors = descriptorsOf(worker.pid);
  // Code and pools that the first ones bring are nobody's.
  await Promise.all(Object.keys(wires).map((wire) => opened(worker, wire, 20).then(ended)));

  for (const wire of Object.keys(wires)) {
    const count = Math.floor(idle / 2);
    const before = await settledMemory(worker);
    const sockets = await opened(worker, wire, count);
    const after = await settledMemory(worker);
    const bytes = (after - before) / count;
    fleet.figure(`${wire}: ${Math.round(bytes)} bytes per idle connection, of ${count}`);
    check(bytes <= bytesMost, `${wire}: ${bytes} bytes per idle connection`);
    worker.held = [...(worker.held ?? []), ...sockets];
  }
  const judge = () => {
    const open = worker.held.filter((socket) => !socket.destroyed).length;
    same(open, worker.held.length, "idle connections that are still open");
    check(descriptorsOf(worker.pid) >= worker.held.length, "not all are connected");
  };
  judge();
  const clients = await asked(worker);
  judge();
  fleet.figure(
    `${worker.held.length} idle and ${clients} active: ${clients * questionsOfClient} right answers, ${mib(memoryOf(worker.pid))} in all`,
  );
  // One that the gateway would have closed: what the judge must not let pass.
  worker.held[0].destroy();
  await notices("an idle connection that is closed", judge, /still open/);
  ended(worker.held);
  await until(
    "every descriptor is back",
    () => descriptorsOf(worker.pid) <= descriptors + descriptorsSlack,
  );
  await (await openSocket(worker.ports.postgresWire)).destroy();
}

async function opened(worker, wire, count) {
  const sockets = [];
  let next = 0;
  const lane = async () => {
    for (let number = next++; number < count; number = next++) {
      const address = `127.0.2.${Math.floor(number / perAddress) + 1}`;
      sockets.push(await wires[wire](worker.ports[wire], address));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return sockets;
}

function ended(sockets) {
  for (const socket of sockets) socket.destroy();
}

/** All are there before the first asks; every answer is the one to its question. */
async function asked(worker) {
  const clients = [];
  let next = 0;
  const lane = async () => {
    while (next++ < active) clients.push(await pgClient(worker));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  await Promise.all(
    clients.map(async (client, index) => {
      for (let number = 0; number < questionsOfClient; number += 1) {
        const cell = await cellOf(client, `select ${index} * 1000 + ${number}`);
        same(cell, String(index * 1000 + number), "an answer beside idle connections");
      }
      await client.end();
    }),
  );
  return clients.length;
}

/** Resident bytes without garbage: collected until three looks do not differ by more than a percent. */
async function settledMemory(worker) {
  let looks = [];
  await until("its memory has settled", async () => {
    worker.collect();
    // A turn of its loop: the garbage is collected before it. A connection that was kept for this may be gone by now.
    const turned = await fetch(`${worker.url}/health`).catch(() => undefined);
    if (turned === undefined) return false;
    await turned.arrayBuffer();
    looks = [...looks, memoryOf(worker.pid)].slice(-3);
    return looks.length === 3 && Math.max(...looks) <= Math.min(...looks) * 1.01;
  });
  return looks.at(-1);
}
