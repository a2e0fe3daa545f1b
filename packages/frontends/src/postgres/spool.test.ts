import { ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageOf } from "./rawClient.ts";
import { Spool, SpoolRoom } from "./spool.ts";

describe("Spool", () => {
  it("gives back every row in order, whatever is asked for at a time", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
        (pieces, turns) => {
          using spool = new Spool(new SpoolRoom(), "ann");
          const rows: string[] = [];
          for (const [index, count] of pieces.entries()) {
            const names = Array.from({ length: count }, (_, row) => `${index}.${row}`);
            rows.push(...names);
            expect(spool.add(pieceOf(names))).toBeUndefined();
          }
          const read: string[] = [];
          for (let turn = 0; spool.ready(); turn += 1) {
            const most = turns[turn % turns.length] ?? 1;
            const out = new ByteWriter();
            const taken = spool.take(most, out);
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
    using spool = new Spool(new SpoolRoom(), "ann");
    spool.add(pieceOf(["a", "b", "c"]));
    spool.ready();
    expect(spool.take(2, undefined)).toBe(2);
    const out = new ByteWriter();
    spool.take(5, out);
    expect(namesIn(out.take())).toEqual(["c"]);
  });

  it("refuses more than one spool may hold, and gives back what was read", () => {
    using spool = new Spool(new SpoolRoom(), "ann");
    const large = pieceOf(["x"]);
    let held = 0;
    while (spool.add(large) === undefined) held += 1;
    expect(held).toBeGreaterThan(100);
    for (let piece = 0; piece < 3 && spool.ready(); piece += 1) spool.take(1, undefined);
    expect(spool.ready()).toBe(true);
    expect(spool.add(large)).toBeUndefined();
  });

  it("refuses what the listener has no room for, and has room again when it ended", () => {
    const room = new SpoolRoom(3_000_000);
    const large = pieceOf(["x"]);
    {
      using spool = new Spool(room, "ann");
      const codes: (string | undefined)[] = [];
      for (let piece = 0; piece < 30; piece += 1) codes.push(spool.add(large)?.sqlState);
      expect(codes[0]).toBeUndefined();
      expect(codes.at(-1)).toBe("53200");
    }
    using other = new Spool(room, "ann");
    for (let piece = 0; piece < 8; piece += 1) expect(other.add(large)).toBeUndefined();
  });

  it("keeps room for others, however many spools one user has, and says whose room is full", () => {
    const room = new SpoolRoom();
    // One piece in all, so that the test itself takes no memory.
    const large = pieceOf(Array.from({ length: 50 }, () => "x"));
    const fill = (spool: Spool): string | undefined => {
      for (;;) {
        const refused = spool.add(large);
        if (refused !== undefined) return refused.sqlState;
      }
    };
    const add = (spool: Spool): string | undefined => spool.add(large)?.sqlState;
    {
      using first = new Spool(room, "ann");
      using second = new Spool(room, "ann");
      using bobs = new Spool(room, "bob");
      using carls = new Spool(room, "carl");
      using dans = new Spool(room, "dan");
      using eves = new Spool(room, "eve");
      for (let piece = 0; piece < 3; piece += 1) expect(add(first)).toBeUndefined();
      expect(fill(second)).toBe("53400");
      expect(add(first)).toBe("53400");
      expect(add(bobs)).toBeUndefined();
      expect([bobs, carls, dans].map(fill)).toEqual(["53400", "53400", "53400"]);
      expect(fill(eves)).toBe("53200");
    }
    using again = new Spool(room, "eve");
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
