import { describe, expect, it } from "vitest";
import { giveBack, lend, share } from "./lent.ts";

describe("a piece that is lent", () => {
  it("is back once every part of it was given back", () => {
    const { piece, backs } = lent();
    const parts = [piece.subarray(0, 3), piece.subarray(3, 8)];
    for (const part of parts) share(piece, part);
    giveBack(piece);
    for (const part of parts) {
      expect(backs.count).toBe(0);
      giveBack(part);
    }
    expect(backs.count).toBe(1);
  });

  it("is not back for a part that is given back twice, in place of one that is kept", () => {
    const { piece, backs } = lent();
    const [given, kept] = [piece.subarray(0, 3), piece.subarray(3, 8)];
    for (const part of [given, kept]) share(piece, part);
    for (const part of [piece, given, given, piece]) giveBack(part);
    expect(backs.count).toBe(0);
    giveBack(kept);
    giveBack(kept);
    expect(backs.count).toBe(1);
  });

  it("knows its parts by identity, and not by where they lie", () => {
    const { piece, backs } = lent();
    for (const other of [piece.subarray(), new Uint8Array(piece.buffer), new Uint8Array(8)]) {
      giveBack(other);
      share(other, other.subarray(1));
    }
    expect(backs.count).toBe(0);
    giveBack(piece);
    expect(backs.count).toBe(1);
  });

  it("goes to the one who got all of it, where it is no part", () => {
    const { piece, backs } = lent();
    share(piece, piece);
    giveBack(piece);
    expect(backs.count).toBe(1);
  });
});

function lent() {
  const piece = new Uint8Array(8);
  const backs = { count: 0 };
  lend(piece, () => {
    backs.count += 1;
  });
  return { piece, backs };
}
