import { Duplex } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import type { Connection } from "mysql2";
import { describe, expect, it } from "vitest";
import { Member } from "./member.ts";

const chunk = Buffer.alloc(64 * 1024, 1);

describe("Member.discard", () => {
  it("reads on for a server that waits to send, and ends whoever asks only at the connection's end", async () => {
    const { member, server } = memberOf();
    for (let count = 0; count < 6; count += 1) server.push(chunk);
    await turn();
    expect(server.isPaused()).toBe(true);
    member.discard();
    expect(server.isPaused()).toBe(false);
    for (let count = 0; count < 20; count += 1) server.push(chunk);
    await turn();
    expect(server.readableLength).toBe(0);
    const next = member.next();
    member.destroy();
    expect(await next).toBeUndefined();
  });

  it("keeps a short answer, which may be the statement's own end", async () => {
    const { member, server } = memberOf();
    server.push(chunk);
    await turn();
    member.discard();
    server.push(chunk);
    await turn();
    expect(await member.next()).toHaveLength(chunk.length);
    expect(await member.next()).toHaveLength(chunk.length);
  });
});

describe("Member.send", () => {
  it("knows the number that the answer to a command of several packets begins with", () => {
    const { member } = memberOf();
    const full = 4 + 0xff_ffff;
    for (const [length, first] of [
      [5, 1],
      [full - 1, 1],
      // A full one has an empty one behind it.
      [full + 4, 2],
      [full + full - 1, 2],
      [full + full + 5, 3],
    ] as const) {
      member.send(new Uint8Array(length));
      expect(member.answersFrom).toBe(first);
    }
  });
});

function memberOf(): { readonly member: Member; readonly server: Duplex } {
  const server = new Duplex({ read: () => {}, write: (_bytes, _encoding, done) => done() });
  // Only what a member asks of the driver.
  const driver = { destroy: () => {} } as unknown as Connection;
  const feed = (): void => {};
  const loggedIn = {
    driver,
    threadId: 1,
    stream: server,
    feed,
    takesAttributes: false,
    endsWithOk: false,
    isMariadb: false,
    greeted: new Map(),
  };
  return { member: new Member(loggedIn, undefined), server };
}
