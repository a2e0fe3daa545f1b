import { describe, expect, it } from "vitest";
import { encodedText, HeaderLines, RequestForm, writableRequest } from "./request.ts";

const bodies = [
  "",
  "SELECT 1",
  "SELECT 2",
  "\u00e9\u{1f600}",
  "a".repeat(2_048),
  "a".repeat(9_000),
];

const wanted = ["one", "two"].flatMap((host) =>
  bodies.flatMap((before) =>
    bodies.flatMap((body) => ["x", "y/\u00e9"].map((part) => [host, before, body, part] as const)),
  ),
);

describe("a request of a form", () => {
  it("is written as it would be alone, whatever was written of the form before", () => {
    const headers = ["a", "\u00e9"];
    for (const method of ["POST", "GET"] as const) {
      const form = new RequestForm({ method, headers }, "/?id=", "&b=c");
      for (const [host, before, body, part] of wanted) {
        textOf({ form, part: encodedText("z"), body: before }, host);
        const path = `/?id=${encodeURIComponent(part)}&b=c`;
        const alone = textOf({ method, path, headers, body }, host);
        expect(textOf({ form, part: encodedText(part), body }, host)).toBe(alone);
      }
    }
  });

  it.each([
    ["a line in a value", ["a", "b\r\nc: d"], "/"],
    ["headers that were judged so", new HeaderLines(undefined), "/"],
    ["a space in its address", [], "/ "],
    ["an address that begins elsewhere", [], "http://other/"],
  ] as const)("with %s is not sent", (_, headers, before) => {
    const form = new RequestForm({ method: "POST", headers }, before, "");
    for (let count = 0; count < 2; count += 1) {
      expect(writableRequest({ form, part: encodedText("a"), body: "b" }, "host")).toBeUndefined();
    }
  });
});

function textOf(request: Parameters<typeof writableRequest>[0], host: string): string {
  const written = writableRequest(request, host);
  expect(written?.pieces).toBeUndefined();
  return `${written?.head}${written?.body}`;
}
