import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compressedBlocks, readCompressed } from "./compressed.ts";
import { lz4Bound, lz4Compress, lz4Decompress } from "./lz4.ts";

const roomy = 1 << 24;

describe("compressedBlocks", () => {
  it("reads back as what was written, of any length and content", () => {
    fc.assert(
      fc.property(bytesOf(), (bytes) => {
        expect(readCompressed(compressedBlocks(bytes), roomy)).toEqual(bytes);
      }),
      { numRuns: 30 },
    );
  });

  it("makes several blocks of more than a megabyte, and little of what repeats", () => {
    const bytes = new Uint8Array((1 << 20) + 100_000).fill(7);
    const blocks = compressedBlocks(bytes);
    expect(blocks.length).toBeLessThan(10_000);
    // Compared as buffers: the test's own way looks at each byte and takes seconds.
    const read = readCompressed(blocks, roomy);
    expect(typeof read !== "string" && Buffer.from(read).equals(bytes)).toBe(true);
  });
});

describe("readCompressed", () => {
  it("refuses a changed byte wherever it is", () => {
    const blocks = compressedBlocks(Buffer.from("some rows, some rows, some rows, and others"));
    for (let at = 0; at < blocks.length; at += 1) {
      const changed = Uint8Array.from(blocks);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(typeof readCompressed(changed, roomy)).toBe("string");
    }
  });

  it("refuses what claims more than its reader takes, before it takes memory", () => {
    const block = compressedBlocks(Buffer.from("abc"));
    new DataView(block.buffer, block.byteOffset).setUint32(16 + 5, 0xffff_ffff, true);
    expect(readCompressed(block, roomy)).toBe("tooLarge");
  });

  it("answers any bytes", () => {
    const answers = fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      readCompressed(bytes, 1000);
    });
    fc.assert(answers);
  });
});

describe("lz4Decompress", () => {
  it("never writes or reads beyond its bounds", () => {
    const bounded = fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(200), (block, length) => {
      const out = lz4Decompress(block, length);
      expect(out === undefined || out.length === length).toBe(true);
    });
    fc.assert(bounded);
  });

  it("takes matches that reach into themselves", () => {
    const bytes = Buffer.from("ab".repeat(50) + "the end of it");
    const out = new Uint8Array(lz4Bound(bytes.length));
    const end = lz4Compress(bytes, out, 0);
    expect(end).toBeLessThan(40);
    expect(lz4Decompress(out.subarray(0, end), bytes.length)).toEqual(Uint8Array.from(bytes));
  });
});

describe("blocks that ClickHouse wrote", () => {
  it.each(written())("are read and written alike: %i bytes", (length, block) => {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 37 + 11) & 0xff);
    expect(readCompressed(Buffer.from(block, "base64"), roomy)).toEqual(bytes);
    expect(readCompressed(compressedBlocks(bytes), roomy)).toEqual(bytes);
  });
});

/** Bytes that repeat and bytes that do not. */
function bytesOf() {
  const noise = fc.uint8Array({ maxLength: 2_000 });
  const repeated = fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.nat(200))
    .map(([part, count]) => Uint8Array.from(Array.from({ length: count }, () => [...part]).flat()));
  return fc.oneof(noise, repeated);
}

/**
 * Blocks whose lengths lie at the edges of the checksum's cases. Source: the file of a column `UInt8` of a table of
 * the engine TinyLog (chdb 26.7), with `number * 37 + 11` in each row.
 */
function written(): readonly (readonly [number, string])[] {
  return [
    [1, "mXPnEY4QUxekcd8qPVdisoILAAAAAQAAABAL"],
    [2, "tnuQRSKQJLfIQiPqozKxYIIMAAAAAgAAACALMA=="],
    [5, "saYbkprqr8be3Jy3kgfjy4IPAAAABQAAAFALMFV6nw=="],
    [8, "D+yWKFa36J1L18nfKuw0Z4ISAAAACAAAAIALMFV6n8TpDg=="],
    [9, "22ot2IGkhYwQu3VAXpofRoITAAAACQAAAJALMFV6n8TpDjM="],
    [10, "ExMKOJyRJuEsERUBgPErj4IUAAAACgAAAKALMFV6n8TpDjNY"],
    [12, "z3+Ha9cIipKI8txloaLN84IWAAAADAAAAMALMFV6n8TpDjNYfaI="],
    [16, "YUMAsiLA3+STIjCij4Y41oIbAAAAEAAAAPABCzBVep/E6Q4zWH2ix+wRNg=="],
    [20, "kiPnfueR5YNy1PIeKcILm4IfAAAAFAAAAPAFCzBVep/E6Q4zWH2ix+wRNluApco="],
    [30, "RtAcDlnl7inKwsKJ/hmZ64IpAAAAHgAAAPAPCzBVep/E6Q4zWH2ix+wRNluApcrvFDleg6jN8hc8"],
    [
      60,
      "kxkcddaN63hcXGIPmtwOPoJHAAAAPAAAAPAtCzBVep/E6Q4zWH2ix+wRNluApcrvFDleg6jN8hc8YYar0PUaP2SJrtP4HUJnjLHW+yBFao+02f4jSG2S",
    ],
    [
      120,
      "3EiKQBloFVzS950C7KtMRoKDAAAAeAAAAPBpCzBVep/E6Q4zWH2ix+wRNluApcrvFDleg6jN8hc8YYar0PUaP2SJrtP4HUJnjLHW+yBFao+02f4jSG2St9wBJktwlbrfBClOc5i94gcsUXabwOUKL1R5nsPoDTJXfKHG6xA1Wn+kye4TOF2Cp8zxFjtgharP9Bk+",
    ],
    [
      128,
      "Fk3pZBXwGMzHs2cgQ4gli4KLAAAAgAAAAPBxCzBVep/E6Q4zWH2ix+wRNluApcrvFDleg6jN8hc8YYar0PUaP2SJrtP4HUJnjLHW+yBFao+02f4jSG2St9wBJktwlbrfBClOc5i94gcsUXabwOUKL1R5nsPoDTJXfKHG6xA1Wn+kye4TOF2Cp8zxFjtgharP9Bk+Y4it0vccQWY=",
    ],
    [
      200,
      "tIxCET07W3B092CohtU4N4LTAAAAyAAAAPC5CzBVep/E6Q4zWH2ix+wRNluApcrvFDleg6jN8hc8YYar0PUaP2SJrtP4HUJnjLHW+yBFao+02f4jSG2St9wBJktwlbrfBClOc5i94gcsUXabwOUKL1R5nsPoDTJXfKHG6xA1Wn+kye4TOF2Cp8zxFjtgharP9Bk+Y4it0vccQWaLsNX6H0RpjrPY/SJHbJG22wAlSm+Uud4DKE1yl7zhBitQdZq/5AkuU3idwucMMVZ7oMXqDzRZfqPI7RI3XIGmy/AVOl+Eqc4=",
    ],
  ];
}
