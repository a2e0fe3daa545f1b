import { describe, expect, it } from "vitest";
import { serverTypes } from "./server.ts";
import { FrameReader } from "./frame.ts";
import { preparedBytes, wholeAnswer, wholeRows } from "./wholeAnswer.ts";

const parsed = message("1");
const bound = message("2");
const described = message("T", [0, 1, ...zeroText("n"), ...Array.from({ length: 18 }, () => 0)]);
const row = message("D", [0, 1, 0, 0, 0, 1, 0x37]);
const nullRow = message("D", [0, 1, 255, 255, 255, 255]);
const completed = message("C", zeroText("SELECT 2"));
const ready = message("Z", [0x49]);

describe("wholeAnswer", () => {
  it.each([
    ["a simple query's", true, [described, row, nullRow, completed, ready], 2],
    [
      "that of a statement with values",
      false,
      [parsed, bound, described, row, completed, ready],
      1,
    ],
    ["one without rows", true, [described, completed, ready], 0],
  ] as const)("finds the parts of %s", (_what, simple, messages, count) => {
    const bytes = joined(messages);
    const found = wholeAnswer(bytes, simple);
    expect(found?.rows.count).toBe(count);
    const of = (part: { start: number; end: number } | undefined): string =>
      textOf(bytes.subarray(part?.start, part?.end));
    expect(of(found?.rows.tag)).toBe("SELECT 2");
    expect(found?.rows.status).toBe(0x49);
    expect(of(found?.rows)).toBe(textOf(joined(messages.filter((one) => one[0] === 0x44))));
    const passedOn = messages.filter((one) => [0x54, 0x44, 0x43].includes(one[0] ?? 0));
    const written = { start: simple ? 0 : preparedBytes, end: found?.rows.completed ?? 0 };
    expect(of(written)).toBe(textOf(joined(passedOn)));
    const { end = 0, columns = 0 } = found?.description ?? {};
    expect(wholeRows(bytes, end, columns)).toEqual(found?.rows);
    expect(of(found?.description)).toBe(textOf(described.subarray(5)));
  });

  it.each([
    ["nothing", true, []],
    ["what is another protocol's answer", true, [parsed, bound, described, completed, ready]],
    ["what has no description", true, [completed, ready]],
    ["what is not ready", true, [described, row, completed]],
    ["what goes on behind", true, [described, row, completed, ready, ready]],
    ["a notice between", true, [described, row, message("N", [0]), completed, ready]],
    ["two results", true, [described, completed, described, completed, ready]],
    ["a row of other width", true, [described, message("D", [0, 2]), completed, ready]],
    ["a length that lies", true, [described, lying(row), completed, ready]],
    ["a tag with more behind it", true, [described, message("C", [65, 0, 66, 0]), ready]],
  ] as const)("leaves %s to who reads messages", (_what, simple, messages) => {
    expect(wholeAnswer(joined(messages), simple)).toBeUndefined();
  });

  it("finds nothing in any part of an answer, and never what a reader of messages would not", () => {
    const bytes = joined([described, row, nullRow, completed, ready]);
    for (let end = 0; end < bytes.length; end += 1)
      expect(wholeAnswer(bytes.subarray(0, end), true)).toBeUndefined();
    let found = 0;
    for (let seed = 0; seed < 20_000; seed += 1) {
      const changed = bytes.slice();
      const at = (seed * 7_919) % changed.length;
      changed[at] = (seed * 104_729) & 255;
      if (wholeAnswer(changed, true) === undefined) continue;
      found += 1;
      expect(lettersOf(changed)).toMatch(/^TD*CZ$/);
    }
    expect(found).toBeGreaterThan(100);
  });
});

/** The types of the messages as the reader of them finds them. */
function lettersOf(bytes: Uint8Array): string {
  const reader = new FrameReader();
  reader.push(bytes);
  let letters = "";
  for (;;) {
    const step = reader.next({ types: serverTypes, maxBytes: 1 << 20 });
    if (step.kind !== "frame") return step.kind === "wait" && reader.pending === 0 ? letters : "-";
    letters += String.fromCharCode(step.frame.type);
  }
}

function message(letter: string, body: readonly number[] = []): Uint8Array {
  const length = 4 + body.length;
  const head = [letter.charCodeAt(0), 0, 0, length >> 8, length & 255];
  return Uint8Array.from([...head, ...body]);
}

function lying(bytes: Uint8Array): Uint8Array {
  const changed = bytes.slice();
  changed[4] = (changed[4] ?? 0) + 1;
  return changed;
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}

function zeroText(text: string): readonly number[] {
  return [...new TextEncoder().encode(text), 0];
}

function joined(messages: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(messages.flatMap((one) => [...one]));
}
