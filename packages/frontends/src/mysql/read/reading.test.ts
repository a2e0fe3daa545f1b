import { describe, expect, it } from "vitest";
import { rememberedLengthMax, rememberedTexts } from "../limits.ts";
import { textReader } from "./reading.ts";

describe("textReader", () => {
  it("answers the statements of a text with what they are and how they go on", () => {
    const reading = textReader()(" select `a`; delete from t;; ");
    expect(reading).toMatchObject({
      ok: true,
      value: [
        { source: "select `a`", start: 1, forwarded: { ok: true, value: 'select "a"' } },
        { source: "delete from t", start: 13, statement: { kind: "delete", writes: true } },
      ],
    });
    expect(textReader()(" ; -- nothing")).toEqual({ ok: true, value: [] });
  });

  it("reads a text once as long as it is asked for", () => {
    const read = textReader();
    const first = read("select 1");
    for (let n = 0; n < rememberedTexts * 5; n += 1) {
      read(`select ${n} from t`);
      expect(read("select 1")).toBe(first);
    }
  });

  it("forgets a text that was not asked for while many others were", () => {
    const read = textReader();
    const first = read("select 1");
    for (let n = 0; n < rememberedTexts * 2; n += 1) read(`select ${n} from t`);
    const again = read("select 1");
    expect(again).not.toBe(first);
    expect(again).toMatchObject({ ok: true, value: [{ source: "select 1" }] });
  });

  it("remembers no long text", () => {
    const read = textReader();
    const long = `select '${"x".repeat(rememberedLengthMax)}'`;
    expect(read(long)).not.toBe(read(long));
  });
});
