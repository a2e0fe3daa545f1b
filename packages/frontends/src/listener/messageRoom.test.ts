import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { ConnectionRoom, MessageRoom } from "./messageRoom.ts";

describe("MessageRoom", () => {
  it("lets messages in up to its size, and the next ones in their order as room is given back", async () => {
    const { room, of } = rig(100);
    const [a, b, c, d] = [of("a"), of("b"), of("c"), of("d")];
    expect(a.enter(50)).toBe(true);
    expect(b.enter(50)).toBe(true);
    const third = c.enter(40);
    const fourth = d.enter(10);
    expect([room.bytes, room.waiting]).toEqual([100, 2]);
    a.room.leave();
    expect(await Promise.all([third, fourth])).toEqual([true, true]);
    expect([room.bytes, room.waiting]).toEqual([100, 0]);
  });

  it("leaves half of it to other users, who pass one that waits for its own", async () => {
    const { room, of } = rig(100);
    const first = of("a");
    expect(first.enter(40)).toBe(true);
    const second = of("a").enter(20);
    expect(second).toBeInstanceOf(Promise);
    expect(of("b").enter(50)).toBe(true);
    first.room.leave();
    expect(await second).toBe(true);
    expect(room.bytes).toBe(70);
  });

  it("lets nobody overtake a message for which there is no room at all", async () => {
    const { of } = rig(100);
    const first = of("a");
    expect(first.enter(50)).toBe(true);
    const large = of("b").enter(60);
    const small = of("c").enter(1);
    expect(small).toBeInstanceOf(Promise);
    first.room.leave();
    expect(await Promise.all([large, small])).toEqual([true, true]);
  });

  it("has room for one that is alone, whatever its length", () => {
    const { of } = rig(100);
    expect(of("a").enter(1_000)).toBe(true);
  });
});

describe("ConnectionRoom", () => {
  it("makes nobody wait for himself", () => {
    const { room, of } = rig(100);
    const connection = of("a");
    expect(connection.enter(50)).toBe(true);
    expect(connection.enter(70)).toBe(true);
    connection.room.leave();
    expect(room.bytes).toBe(0);
  });

  it("gives up after half a minute, or when its connection leaves", async () => {
    const { room, of, time } = rig(100);
    void of("a").enter(50);
    const waits = of("a").enter(50);
    await time.advance(30_000);
    expect(await waits).toBe(false);
    const leaver = of("a");
    const left = leaver.enter(50);
    leaver.room.leave();
    expect(await left).toBe(false);
    expect([room.bytes, room.waiting]).toEqual([50, 0]);
  });

  it("tells of a message that does not arrive, and of no other", async () => {
    const { of, time } = rig(100);
    const [slow, quick] = [of("a"), of("b")];
    void slow.enter(50);
    void quick.enter(50);
    quick.room.arrived();
    await time.advance(400_000);
    expect([slow.late, quick.late]).toEqual([1, 0]);
  });
});

function rig(bytesMax: number) {
  const time = virtualHost(1);
  const room = new MessageRoom(bytesMax);
  const of = (user: string) => {
    const own = new ConnectionRoom(time.clock, room);
    const connection = {
      room: own,
      late: 0,
      enter: (bytes: number) =>
        own.enter(user, bytes, () => {
          connection.late += 1;
        }),
    };
    return connection;
  };
  return { room, time, of };
}
