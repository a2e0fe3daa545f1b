import { describe, expect, it } from "vitest";
import { TurnWrites, type TurnSocket } from "./turn.ts";

describe("TurnWrites", () => {
  it("writes at the end of the turn, in the order in which it was asked", () => {
    const { writes, endTurn, socket, said } = made();
    const [one, other] = [socket("one"), socket("other")];
    writes.write(one, bytes("a"));
    writes.later(() => said.push("later"));
    writes.write(other, "b");
    writes.write(one, bytes("c"));
    expect(said).toEqual([]);
    endTurn();
    expect(said).toEqual(["one a", "later", "other b", "one c"]);
    endTurn();
    expect(said).toHaveLength(4);
  });

  it("makes one call of several pieces in a row for a socket", () => {
    const { writes, endTurn, socket, said } = made();
    const one = socket("one");
    for (const piece of ["a", "b", "c"]) writes.write(one, bytes(piece));
    writes.write(socket("other"), bytes("d"));
    endTurn();
    expect(said).toEqual(["one cork", "one a", "one b", "one c", "one uncork", "other d"]);
  });

  it("writes much at once, behind what waited", () => {
    const { writes, socket, said } = made();
    const one = socket("one");
    writes.write(one, "a");
    writes.write(one, "b".repeat(9_000));
    expect(said).toEqual(["one a", `one ${"b".repeat(9_000)}`]);
  });

  it("lets sixteen wait for each other, and no more", () => {
    const { writes, socket, said } = made();
    for (let n = 0; n < 17; n += 1) writes.write(socket(String(n)), "x");
    expect(said).toHaveLength(16);
  });

  it("leaves out whoever is gone, and says whether a socket wants more", () => {
    const { writes, endTurn, socket, said } = made();
    const full = { ...socket("full"), writableNeedDrain: true };
    const gone = { ...socket("gone"), destroyed: true };
    expect(writes.write(full, "a")).toBe(false);
    expect(writes.write(gone, "b")).toBe(true);
    expect([writes.holds(full), writes.holds(socket("full"))]).toEqual([true, false]);
    endTurn();
    expect(said).toEqual(["full a"]);
    expect(writes.holds(full)).toBe(false);
  });

  it("waits for nobody where one client asks after the other, until there is company again", () => {
    const { writes, endTurn, socket, said } = made();
    const one = socket("one");
    const turns = (count: number): number => {
      let atOnce = 0;
      for (let n = 0; n < count; n += 1) {
        const before = said.length;
        writes.write(one, "x");
        atOnce += said.length - before;
        endTurn();
      }
      return atOnce;
    };
    expect(turns(64)).toBe(0);
    expect(turns(64)).toBe(56);
    // One of them is seen in the turn that looks for company.
    for (let n = 0; n < 8; n += 1) for (const name of ["a", "b"]) writes.write(socket(name), "x");
    endTurn();
    expect(turns(8)).toBe(0);
  });

  it("calls what is to come behind whatever it wrote, at once and with the end of a turn", () => {
    const { writes, endTurn, socket, said } = made("behind");
    const one = socket("one");
    writes.write(one, "a");
    writes.later(() => said.push("later"));
    endTurn();
    writes.write(one, "b".repeat(9_000));
    expect(said).toEqual(["one a", "later", "behind", `one ${"b".repeat(9_000)}`, "behind"]);
    for (let n = 0; n < 64; n += 1) {
      writes.write(one, "x");
      endTurn();
    }
    said.length = 0;
    writes.write(one, "c");
    writes.later(() => said.push("later"));
    expect(said).toEqual(["one c", "behind", "later", "behind"]);
  });

  it("never lets a piece overtake another", () => {
    const { writes, endTurn, socket, said } = made();
    const one = socket("one");
    for (let n = 0; n < 500; n += 1) {
      for (let piece = 0; piece <= n % 3; piece += 1) writes.write(one, `${n}.${piece}`);
      if (n % 5 !== 0) endTurn();
    }
    endTurn();
    const pieces = said.filter((word) => !/cork/.test(word)).map((word) => word.split(" ")[1]);
    const expected = Array.from({ length: 500 }, (_, n) =>
      Array.from({ length: (n % 3) + 1 }, (_none, piece) => `${n}.${piece}`),
    ).flat();
    expect(pieces).toEqual(expected);
  });
});

function made(behind?: string) {
  const said: string[] = [];
  let planned: (() => void)[] = [];
  const writes = new TurnWrites(
    (leave) => planned.push(leave),
    behind === undefined ? undefined : () => said.push(behind),
  );
  const endTurn = (): void => {
    const all = planned;
    planned = [];
    for (const leave of all) leave();
  };
  const socket = (name: string): TurnSocket => ({
    destroyed: false,
    writableNeedDrain: false,
    write: (piece: Uint8Array | string) => {
      const text = typeof piece === "string" ? piece : new TextDecoder().decode(piece);
      return said.push(`${name} ${text}`) > 0;
    },
    cork: () => void said.push(`${name} cork`),
    uncork: () => void said.push(`${name} uncork`),
  });
  return { writes, endTurn, socket, said };
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
