import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readClientPage, textOfSpan, valueOfSpan } from "./clientPage.ts";

const encoder = new TextEncoder();
const nothing = {
  nextUri: undefined,
  columns: undefined,
  data: undefined,
  stats: undefined,
  error: undefined,
  warnings: undefined,
  updateType: undefined,
  updateCount: undefined,
};

describe("readClientPage", () => {
  it("finds each member, wherever it stands and whatever it holds", () => {
    fc.assert(
      fc.property(
        fc.record(
          {
            id: fc.string(),
            nextUri: fc.webUrl(),
            columns: fc.jsonValue(),
            data: fc.array(fc.array(fc.jsonValue())),
            stats: fc.dictionary(fc.string(), fc.jsonValue()),
            other: fc.jsonValue(),
            updateCount: fc.maxSafeNat(),
          },
          { requiredKeys: ["id"] },
        ),
        fc.constantFrom(undefined, 1, "\t"),
        (made, indent) => {
          const bytes = encoder.encode(JSON.stringify(made, undefined, indent));
          // JSON has one zero.
          const page = JSON.parse(JSON.stringify(made)) as typeof made;
          const read = readClientPage(bytes);
          expect(read?.id).toBe(page.id);
          expect(read?.nextUri).toBe(page.nextUri);
          expect(read?.updateCount).toBe(page.updateCount);
          expect(valueOfSpan(bytes, read?.data)).toEqual(page.data);
          expect(valueOfSpan(bytes, read?.stats)).toEqual(page.stats);
          expect(valueOfSpan(bytes, read?.columns)).toEqual(page.columns ?? undefined);
        },
      ),
    );
  });

  it("finds the end of the rows whatever stands between them and the counters, and keys with escapes", () => {
    for (const [text, rows] of [
      ['{"id":"q","data":[[1]],"warnings":[],"stats":{"s":1}}', "[[1]]"],
      ['{"id":"q","data":[[1]],"columns":[{"name":"a"}],"stats":{}}', "[[1]]"],
      ['{"id":"q","data":[],"stats":{}}', "[]"],
      ['{"id":"q","d\\u0061ta":[[1],[2]],"stats":{}}', "[[1],[2]]"],
    ] as const) {
      const bytes = encoder.encode(text);
      const data = readClientPage(bytes)?.data;
      expect(data && textOfSpan(bytes, data)).toBe(rows);
    }
  });

  it("takes keys of rows for keys of rows, whatever they are called", () => {
    const data = [[{ stats: { a: 1 } }, ',"stats":{', { x: [], stats: {} }]];
    const bytes = encoder.encode(JSON.stringify({ id: "q", data, stats: {}, warnings: [] }));
    const span = readClientPage(bytes)?.data;
    expect(span === undefined ? "" : textOfSpan(bytes, span)).toBe(JSON.stringify(data));
  });

  it("reads the last member of a name that is not null, and none of a name that is not its own", () => {
    const read = readClientPage(
      encoder.encode(
        '{"id":"a","id":"b","id":null,"iD":"c","state":"d","nextUrl":"e","updateCount":1,"updateCount":2,"updateType":null}',
      ),
    );
    expect(read).toEqual({ ...nothing, id: "b", updateCount: 2 });
  });

  it("reads texts with escapes and other letters as JSON does", () => {
    for (const text of ["", "a\u0041", "caf\u00e9", '\\"', "\\u00e9\\n", "\ud83d\ude00", "\x7f"]) {
      const bytes = encoder.encode(JSON.stringify({ id: "q", nextUri: text }));
      expect(readClientPage(bytes)?.nextUri).toBe(text);
    }
  });

  it("reads no answer whose link can not be read, which would look like the last one", () => {
    const long = JSON.stringify("x".repeat(30_000));
    for (const broken of ['"a\nb"', '"\\q"', "17", "{}", long]) {
      const text = `{"id":"q","nextUri":${broken}}`;
      expect(readClientPage(encoder.encode(text))).toBeUndefined();
    }
  });

  it("passes over any number of members that are not read", () => {
    const members = Array.from({ length: 1_000 }, (_, index) => `"x${index}":[{"id":1}],`);
    expect(readClientPage(encoder.encode(`{${members.join("")}"id":"q"}`))?.id).toBe("q");
  });

  it("reads no answer that is cut anywhere", () => {
    const whole = '{"id":"q","data":[[1,"]}"]],"stats":{"state":"RUNNING"},"warnings":[]}';
    expect(readClientPage(encoder.encode(whole))).toBeDefined();
    for (let end = 0; end < whole.length; end += 1) {
      expect(readClientPage(encoder.encode(whole.slice(0, end)))).toBeUndefined();
    }
  });

  it("answers any bytes without a throw", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...'{}[]",:\\nidstats1 '.split("")), { maxLength: 60 }),
        (marks) => {
          const read = readClientPage(encoder.encode(`{"id":"q",${marks.join("")}`));
          expect(read === undefined || read.id !== "").toBe(true);
        },
      ),
    );
  });
});
