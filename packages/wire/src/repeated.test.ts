import { expect, test } from "vitest";
import { Repeated } from "./repeated.ts";

function counted(lengthMax = 8) {
  const read: string[] = [];
  const repeated = new Repeated<{ readonly text: string }>(16, lengthMax, (bytes) => {
    const text = Buffer.from(bytes).toString("latin1");
    read.push(text);
    return text === "bad" ? undefined : { text };
  });
  return { repeated, read };
}

test("the same bytes are read once, wherever they lie", () => {
  const { repeated, read } = counted();
  const first = repeated.get(Buffer.from("xabcx"), 1, 4);
  const second = repeated.get(new Uint8Array([97, 98, 99]), 0, 3);
  expect(first).toEqual({ text: "abc" });
  expect(second).toBe(first);
  expect(read).toEqual(["abc"]);
});

test("bytes that change afterwards are other bytes", () => {
  const { repeated } = counted();
  const shared = Buffer.from("abc");
  expect(repeated.get(shared, 0, 3)?.text).toBe("abc");
  shared.write("abd");
  expect(repeated.get(shared, 0, 3)?.text).toBe("abd");
  expect(repeated.get(Buffer.from("abc"), 0, 3)?.text).toBe("abc");
});

test("long sequences and what is no value are read each time", () => {
  const { repeated, read } = counted(2);
  for (let times = 0; times < 2; times += 1) {
    repeated.get(Buffer.from("abc"), 0, 3);
    expect(counted().repeated.get(Buffer.from("bad"), 0, 3)).toBeUndefined();
  }
  expect(read).toEqual(["abc", "abc"]);
});

test("sequences of one place take turns in it", () => {
  const { repeated } = counted();
  const texts = Array.from({ length: 200 }, (_, index) => `t${index}`);
  for (const text of [...texts, ...texts]) {
    expect(repeated.get(Buffer.from(text), 0, text.length)?.text).toBe(text);
  }
});
