/** What a connection's last head said decides nothing about the next one. */
import { describe, expect, it } from "vitest";
import { HeadNames, readPlainHead } from "./head.ts";

const host = "Host: a.example";
const login = "Authorization: Basic YTpi";
const heads = [
  [host],
  [host, login],
  [host, login, "Content-Length: 1"],
  [login, host, "Content-Length: 12"],
  [host, "authorization: Basic YTpi"],
  [host, login, host],
  [host, "host: b.example"],
  [login, "X-Other:", "X-Other: 2", host],
  [host, "X-Other:   a value   "],
  [host, `${"X".repeat(70)}: 1`],
  [host, "Connection: keep-alive"],
  [host, "Connection: close"],
  [host, "Transfer-Encoding: chunked"],
  [host, "constructor: 1"],
  [login],
].map((lines) => bytesOf(lines));

describe("a plain head", () => {
  it("is read alike behind any other", () => {
    for (const before of heads) {
      for (const head of heads) {
        const names = new HeadNames();
        readPlainHead(before, names);
        for (const _again of [1, 2]) {
          expect(readPlainHead(head, names)).toEqual(readPlainHead(head, new HeadNames()));
        }
      }
    }
  });

  it("leaves its names behind, in their order, and none of a head that is another reader's", () => {
    const names = new HeadNames();
    const sent = () => names.known.map((one) => one.name);
    readPlainHead(bytesOf([host, login]), names);
    expect(sent()).toEqual(["Host", "Authorization"]);
    readPlainHead(bytesOf([login, login, host]), names);
    expect(sent()).toEqual(["Host", "Authorization"]);
    readPlainHead(bytesOf([login, host]), names);
    expect(sent()).toEqual(["Authorization", "Host"]);
    // It may be cut from the text of its head, which holds a credential.
    readPlainHead(bytesOf([host, `${"X".repeat(70)}: 1`]), names);
    expect(sent()).toEqual(["Authorization", "Host"]);
  });
});

function bytesOf(lines: readonly string[]): Buffer {
  return Buffer.from(["POST / HTTP/1.1", ...lines, "", ""].join("\r\n"), "latin1");
}
