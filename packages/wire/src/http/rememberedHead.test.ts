/** A reader that read a response before reads the next one as if it had not. */
import { describe, expect, it } from "vitest";
import { ResponseReader, type ResponseStep } from "./response.ts";
import type { ResponseHeaders } from "./responseHead.ts";
import { Chance, headBytesMax, responseBy } from "./rig/responses.ts";

const first =
  "HTTP/1.1 200 OK\r\nDate: one\r\nX-Id: a\r\nX-None:\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nhi";
const chunked =
  "HTTP/1.1 200 OK\r\nDate: one\r\nTransfer-Encoding: chunked\r\nX-Id: a\r\n\r\n2\r\nhi\r\n0\r\n\r\n";

describe("a head like the one before", () => {
  it("is the same object where all of its bytes are the same", () => {
    const headers = headersOf([first, first, first]);
    expect(headers[1]).toBe(headers[0]);
    expect(headers[2]).toBe(headers[0]);
  });

  it("has the values of its own, and leaves the others theirs", () => {
    const second = first.replace("one", "two").replace("X-Id: a", "X-Id:  b c ");
    expect(headersOf([first, second, second, first])).toEqual([
      { ...plain, date: "one", "x-id": "a" },
      { ...plain, date: "two", "x-id": "b c" },
      { ...plain, date: "two", "x-id": "b c" },
      { ...plain, date: "one", "x-id": "a" },
    ]);
    const [, two, again] = headersOf([first, second, second]);
    expect(again).toBe(two);
  });

  it("may have no value any more, and a longer one", () => {
    const texts = [first, first.replace("one", ""), first.replace("one", "o".repeat(900))];
    expect(headersOf(texts).map((headers) => headers?.["date"])).toEqual([
      "one",
      "",
      "o".repeat(900),
    ]);
  });

  it("has the length of its own body", () => {
    const longer = first.replace("Content-Length: 2\r\n", "Content-Length: 11\r\n") + " and more";
    expect(stepsOf([first, longer, first])).toEqual([
      ["head 2", "hi", "end true"],
      ["head 11", "hi and more", "end true"],
      ["head 2", "hi", "end true"],
    ]);
  });

  it.each([
    ["that closes", ["Connection: keep-alive", "Connection: close"]],
    ["of another status", ["200 OK", "500 No"]],
    ["with a length that is none", ["Length: 2", "Length: +2"]],
    ["with a tab behind its length", ["Length: 2", "Length: 2\t"]],
    ["with no length", ["Length: 2", "Length: "]],
    ["with two lengths", ["X-None:", "Content-Length: 2"]],
    ["with chunks beside its length", ["X-None:", "Transfer-Encoding: chunked"]],
    ["with another coding", ["chunked", "gzip"]],
    ["with a line more", ["X-Id: a", "X-Id: a\r\nY: b"]],
    ["with a line less", ["X-Id: a\r\n", ""]],
    ["with a line folded", ["X-Id: a", "X-Id: a\r\n b"]],
    ["with a bare LF", ["X-Id: a", "X-Id: a\nb"]],
    ["with a bare CR", ["X-Id: a", "X-Id: a\rb"]],
    ["with NUL", ["X-Id: a", "X-Id: \0"]],
    ["with a byte beyond ASCII", ["X-Id: a", "X-Id: \u00e9"]],
    ["with a space before the colon", ["X-Id: a", "X-Id : a"]],
    ["with another case of a name", ["X-Id: a", "x-id: b"]],
    ["cut in its head", ["\r\n\r\n", "\r\n"]],
  ] as const)("%s is read as the first one would be", (_, [from, to]) => {
    for (const before of [first, chunked]) {
      const text = before.replace(from, to);
      for (const room of [headBytesMax, before.length]) {
        expect(readIn([before, text], room).at(-1)).toEqual(readIn([text], room)[0]);
      }
    }
  });

  it("is no longer than any may be", () => {
    const long = first.replace("one", "o".repeat(600));
    expect(stepsOf([first, long], 400).at(-1)).toEqual(["fault"]);
    const slow = chunked.replace("0\r\n\r\n", `0\r\nT: ${"u".repeat(500)}\r\n\r\n`);
    for (const texts of [[slow], [chunked, slow], [slow, slow]]) {
      expect(stepsOf(texts, 560).at(-1)?.at(-1)).toBe("fault");
      expect(stepsOf(texts, 650).at(-1)?.at(-1)).toBe("end true");
    }
  });

  it("is read so also where the connection brings it in pieces", () => {
    const reader = new ResponseReader(headBytesMax);
    const second = first.replace("one", "two");
    for (let cut = 1; cut < second.length; cut += 1) {
      expect(read(reader, [first])).toContainEqual({ ...plain, date: "one", "x-id": "a" });
      expect(read(reader, [second.slice(0, cut), second.slice(cut)])).toContainEqual({
        ...plain,
        date: "two",
        "x-id": "a",
      });
    }
  });

  it("is read so whatever both are", () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const chance = new Chance(seed);
    let compared = 0;
    for (let count = 0; count < 4_000; count += 1) {
      const before = chance.below(2) === 0 ? chance.pick([first, chunked]) : responseBy(chance);
      const reader = new ResponseReader(headBytesMax);
      if (read(reader, [before]).at(-1) !== "end true" || reader.unread > 0) continue;
      compared += 1;
      const text = chance.below(4) === 0 ? responseBy(chance) : changedBy(chance, before);
      const alone = read(new ResponseReader(headBytesMax), [text]);
      expect(read(reader, [text]), `seed ${seed}: ${JSON.stringify([before, text])}`).toEqual(
        alone,
      );
    }
    expect(compared).toBeGreaterThan(100);
  });
});

const plain = { "x-none": "", "content-length": "2", connection: "keep-alive" };

/** One or two characters of it are others, or stand twice, or are gone. */
function changedBy(chance: Chance, text: string): string {
  let changed = text;
  for (let count = 1 + chance.below(2); count > 0; count -= 1) {
    const at = chance.below(changed.length);
    const put = chance.pick(["", "a", "1", " ", "\t", ":", "\r\n", "\n", "\r", "\u00ff", "\0"]);
    changed = changed.slice(0, at) + put + changed.slice(at + chance.below(3));
  }
  return changed;
}

function headersOf(texts: readonly string[]): readonly (ResponseHeaders | undefined)[] {
  return readIn(texts, headBytesMax).map((steps) =>
    steps.find((step): step is ResponseHeaders => typeof step === "object"),
  );
}

function stepsOf(texts: readonly string[], room = headBytesMax): readonly (readonly string[])[] {
  return readIn(texts, room).map((steps) => steps.filter((step) => typeof step === "string"));
}

/** What one reader makes of them, each in one piece. */
function readIn(texts: readonly string[], room: number): ReturnType<typeof read>[] {
  const reader = new ResponseReader(room);
  return texts.map((text) => read(reader, [text]));
}

/** Steps up to the end of a response, with its headers behind its head. */
function read(reader: ResponseReader, pieces: readonly string[]): (string | ResponseHeaders)[] {
  const steps: (string | ResponseHeaders)[] = [];
  reader.begin();
  for (const piece of pieces) {
    reader.push(new Uint8Array(Buffer.from(piece, "latin1")));
    for (let step = reader.next(); step.kind !== "more"; step = reader.next()) {
      steps.push(...shown(step));
      if (step.kind === "end" || step.kind === "fault") return steps;
    }
  }
  return [...steps, "more"];
}

function shown(step: ResponseStep): readonly (string | ResponseHeaders)[] {
  switch (step.kind) {
    case "head":
      return [`head ${step.bodyBytes ?? "?"}`, step.headers];
    case "data":
      return [Buffer.from(step.bytes).toString("latin1")];
    case "end":
      return [`end ${step.reusable}`];
    case "fault":
    case "more":
      return [step.kind];
  }
}
