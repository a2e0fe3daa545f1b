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

  it("is read alike behind one of the same client, whatever byte of it is another", () => {
    const lines = [
      host,
      `${login}=`,
      "User-Agent: a",
      "Content-Length: 12",
      "X-ClickHouse-User: ab",
    ];
    for (const start of ["POST / HTTP/1.1", "GET /query?a=1 HTTP/1.1"]) {
      const head = bytesOf(lines, start).toString("latin1");
      const names = new HeadNames();
      readPlainHead(Buffer.from(head, "latin1"), names);
      expect(names.head).toBeDefined();
      names.headsLeft = 0;
      for (const other of changed(head)) {
        expect(readPlainHead(other, names)).toEqual(readPlainHead(other, new HeadNames()));
      }
    }
  });

  it("is read again without what it said of who asks, and kept only where no name may hold a secret", () => {
    const names = new HeadNames();
    readPlainHead(bytesOf([host, login]), names);
    const known = names.head;
    const other = bytesOf([host, "Authorization: Basic YTpj"]);
    expect(known?.read(other, "POST / HTTP/1.1\r\n".length)?.headers).toEqual({
      host: "a.example",
      authorization: "Basic YTpj",
    });
    expect(known?.kept).toEqual([`${host}\r\nAuthorization: `, "\r\n\r\n", "a.example"]);
    // Connections of the same clients share it.
    const others = new HeadNames();
    readPlainHead(other, others);
    expect(others.head).toBe(known);
    readPlainHead(bytesOf([host, "X-Secret: 1"]), others);
    expect(others.head).toBe(known);
    const strangers = new HeadNames();
    readPlainHead(bytesOf([host, "Cookie: a=b"]), strangers);
    expect(strangers.head).toBeUndefined();
  });

  it("is not kept again and again for a client that sends another one each time", () => {
    const names = new HeadNames();
    for (let at = 0; at < 20; at += 1) readPlainHead(bytesOf([host, `User-Agent: ${at}`]), names);
    expect(names.headsLeft).toBe(0);
    const [last] = [bytesOf([host, "User-Agent: 7"])];
    expect(names.head?.read(last, "POST / HTTP/1.1\r\n".length)?.end).toBe(last.length);
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

/** With something put in at each place, or in place of a byte. */
function* changed(head: string): Generator<Buffer> {
  const odd = ["", "\r", "\n", "\r\n", "\t", " ", ":", "0", "a", "\0", "\x7f", "\x80"];
  const changes = odd.flatMap((put) => [0, 1].map((gone) => ({ put, gone })));
  for (let at = 0; at < head.length; at += 1) {
    for (const { put, gone } of changes) {
      yield Buffer.from(head.slice(0, at) + put + head.slice(at + gone), "latin1");
    }
  }
}

function bytesOf(lines: readonly string[], start = "POST / HTTP/1.1"): Buffer {
  return Buffer.from([start, ...lines, "", ""].join("\r\n"), "latin1");
}
