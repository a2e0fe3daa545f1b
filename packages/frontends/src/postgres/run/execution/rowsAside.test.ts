import { ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageOf } from "../../rig/rawClient.ts";
import { RowsAside, AsideRoom } from "./rowsAside.ts";

describe("RowsAside", () => {
  it("gives back every row in order, whatever is asked for at a time", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
        (pieces, turns) => {
          using aside = new RowsAside(new AsideRoom(), "ann");
          const rows: string[] = [];
          for (const [index, count] of pieces.entries()) {
            const names = Array.from({ length: count }, (_, row) => `${index}.${row}`);
            rows.push(...names);
            expect(aside.add(pieceOf(names))).toBeUndefined();
          }
          const read: string[] = [];
          for (let turn = 0; aside.ready(); turn += 1) {
            const most = turns[turn % turns.length] ?? 1;
            const out = new ByteWriter();
            const taken = aside.take(most, out);
            expect(taken).toBeLessThanOrEqual(most);
            read.push(...namesIn(out.take()));
          }
          expect(read).toEqual(rows);
        },
      ),
      { numRuns: 15 },
    );
  });

  it("passes over rows without writing them", () => {
    using aside = new RowsAside(new AsideRoom(), "ann");
    aside.add(pieceOf(["a", "b", "c"]));
    aside.ready();
    expect(aside.take(2, undefined)).toBe(2);
    const out = new ByteWriter();
    aside.take(5, out);
    expect(namesIn(out.take())).toEqual(["c"]);
  });

  it("refuses more than one aside may hold, and gives back what was read", () => {
    using aside = new RowsAside(new AsideRoom(), "ann");
    const large = pieceOf(["x"]);
    let held = 0;
    while (aside.add(large) === undefined) held += 1;
    expect(held).toBeGreaterThan(100);
    for (let piece = 0; piece < 3 && aside.ready(); piece += 1) aside.take(1, undefined);
    expect(aside.ready()).toBe(true);
    expect(aside.add(large)).toBeUndefined();
  });

  it("refuses what the listener has no room for, and has room again when it ended", () => {
    const room = new AsideRoom(3_000_000);
    const large = pieceOf(["x"]);
    {
      using aside = new RowsAside(room, "ann");
      const codes: (string | undefined)[] = [];
      for (let piece = 0; piece < 30; piece += 1) codes.push(aside.add(large)?.sqlState);
      expect(codes[0]).toBeUndefined();
      expect(codes.at(-1)).toBe("53200");
    }
    using other = new RowsAside(room, "ann");
    for (let piece = 0; piece < 8; piece += 1) expect(other.add(large)).toBeUndefined();
  });

  it("keeps room for others, however many results one user set aside, and says whose room is full", () => {
    const room = new AsideRoom();
    // One piece in all, so that the test itself takes no memory.
    const large = pieceOf(Array.from({ length: 50 }, () => "x"));
    const fill = (aside: RowsAside): string | undefined => {
      for (;;) {
        const refused = aside.add(large);
        if (refused !== undefined) return refused.sqlState;
      }
    };
    const add = (aside: RowsAside): string | undefined => aside.add(large)?.sqlState;
    {
      using first = new RowsAside(room, "ann");
      using second = new RowsAside(room, "ann");
      using bobs = new RowsAside(room, "bob");
      using carls = new RowsAside(room, "carl");
      using dans = new RowsAside(room, "dan");
      using eves = new RowsAside(room, "eve");
      for (let piece = 0; piece < 3; piece += 1) expect(add(first)).toBeUndefined();
      expect(fill(second)).toBe("53400");
      expect(add(first)).toBe("53400");
      expect(add(bobs)).toBeUndefined();
      expect([bobs, carls, dans].map(fill)).toEqual(["53400", "53400", "53400"]);
      expect(fill(eves)).toBe("53200");
    }
    using again = new RowsAside(room, "eve");
    expect(add(again)).toBeUndefined();
  });
});

/** Messages of 200 kB each. */
function pieceOf(names: readonly string[]): Uint8Array {
  return Buffer.concat(names.map((name) => messageOf("D", Buffer.from(name.padEnd(200_000, " ")))));
}

function namesIn(bytes: Uint8Array): readonly string[] {
  const names: string[] = [];
  const all = Buffer.from(bytes);
  for (let at = 0; at < all.length;) {
    const length = all.readInt32BE(at + 1);
    names.push(
      all
        .subarray(at + 5, at + 1 + length)
        .toString()
        .trim(),
    );
    at += 1 + length;
  }
  return names;
}
