/** What the shared suite waits for, and the sockets it breaks rules with. */
import { connect, type Socket } from "node:net";
import { seededRandom } from "@gateway/core/rig/virtual.ts";
import type { Query } from "@gateway/core/query/query.ts";
import type { ScriptedDoor } from "./scriptedDoor.ts";

/** Drivers send statements of their own; only those of the test count. */
export function ranOf(queries: readonly Query[], sql: string): number {
  return queries.filter((query) => query.sql === sql).length;
}

/** Waits until the statement runs. */
export async function runs(door: ScriptedDoor, sql: string): Promise<void> {
  while (ranOf(door.queries, sql) === 0) await door.untilStarted(door.queries.length + 1);
}

/** Waits until the statement, which runs, has ended. */
export async function ended(door: ScriptedDoor, sql: string): Promise<void> {
  const ids = door.queries.filter((query) => query.sql === sql).map((query) => query.id);
  while (!ids.every((id) => door.ended.includes(id))) await door.untilEnded(door.ended.length + 1);
}

/** The failure of something that must fail. */
export async function failureOf(attempt: () => Promise<unknown>): Promise<Error> {
  try {
    await attempt();
  } catch (failure) {
    return failure instanceof Error ? failure : new Error(String(failure));
  }
  throw new Error("it did not fail");
}

/** Until it succeeds: the server learns a moment after the client that a connection is closed. */
export async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** A plain socket that is connected and reads everything away. */
export async function rawOf(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => undefined);
  socket.resume();
  return socket;
}

/** Resolves when the socket is closed. */
export function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve());
  });
}

/** Bytes of buffers and of the heap. */
export function heldBytes(): number {
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
}

/** Beginnings of other protocols, runs of one byte, and noise. Equal in every run. */
export function garbage(): readonly Uint8Array[] {
  const random = seededRandom(7);
  const noise = Array.from({ length: 40 }, () =>
    Uint8Array.from({ length: 1 + Math.floor(random() * 4096) }, () => Math.floor(random() * 256)),
  );
  const texts = ["GET / HTTP/1.1\r\n\r\n", "SSH-2.0-x\r\n", "\u0016\u0003\u0001\u0002\u0000\u0001"];
  const runsOf = [0, 1, 0x7f, 0x80, 0xff].map((byte) => new Uint8Array(1000).fill(byte));
  return [...noise, ...texts.map((text) => Buffer.from(text, "latin1")), ...runsOf];
}
