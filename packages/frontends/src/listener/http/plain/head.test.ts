/** What a connection's last head said decides nothing about the next one. */
import { gatewayError } from "@gateway/core/error.ts";
import { err } from "@gateway/core/result.ts";
import { describe, expect, it } from "vitest";
import { LastHeads, readPlainHead, type PlainHead, type PlainRead } from "./head.ts";

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
        const names = new LastHeads();
        readPlainHead(before, names);
        for (const _again of [1, 2]) {
          expect(saidBy(readPlainHead(head, names))).toEqual(saidBy(readAlone(head)));
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
      const last = new LastHeads();
      readPlainHead(Buffer.from(head, "latin1"), last);
      expect(last.lines).toHaveLength(1);
      for (const other of changed(head)) {
        last.linesLeft = 0;
        expect(saidBy(readPlainHead(other, last))).toEqual(saidBy(readAlone(other)));
      }
    }
  });

  it("is known by its lines, whatever the length of its body, and shares what was found in them", () => {
    const last = new LastHeads();
    const read = (length: string, start = "POST / HTTP/1.1") =>
      readPlainHead(bytesOf([host, login, `content-length: ${length}`], start), last);
    const first = headIn(read("7"));
    expect(headIn(read("7"))).toMatchObject({ memo: first.memo, bodyBytes: 7 });
    const longer = headIn(read("123", "POST /?query=SELECT HTTP/1.1"));
    expect(longer.memo).toBe(first.memo);
    expect(longer).toMatchObject({ url: "/?query=SELECT", bodyBytes: 123 });
    expect(longer.headers["content-length"]).toBe("123");
    expect(longer.rawHeaders.at(-1)).toBe("123");
    // The same number in other words is read in full.
    expect(headIn(read("0007")).memo).not.toBe(first.memo);
    expect(headIn(read("0007")).headers["content-length"]).toBe("0007");
  });

  it("is known in two forms at once, and the third takes the place of the older", () => {
    const last = new LastHeads();
    const [one, two, three] = ["a", "b", "c"].map((agent) =>
      bytesOf([host, `User-Agent: ${agent}`]),
    );
    const memoOf = (bytes: Buffer | undefined) =>
      headIn(readPlainHead(bytes ?? Buffer.of(), last)).memo;
    const memos = [memoOf(one), memoOf(two)];
    expect([memoOf(one), memoOf(two)]).toEqual(memos);
    memoOf(three);
    expect(memoOf(two)).toBe(memos[1]);
    expect(memoOf(one)).not.toBe(memos[0]);
  });

  it("can not be changed for those that come behind it", () => {
    const last = new LastHeads();
    const bytes = bytesOf([host, login]);
    readPlainHead(bytes, last);
    const { headers, rawHeaders } = headIn(readPlainHead(bytes, last));
    expect(Object.isFrozen(headers) && Object.isFrozen(rawHeaders)).toBe(true);
  });

  it("is forgotten with the credential in it, and not kept where it is long", () => {
    const last = new LastHeads();
    const { memo } = headIn(readPlainHead(bytesOf([host, login]), last));
    if (memo !== undefined) memo.presented = err(gatewayError("auth.refused"));
    last.forget();
    expect(last.lines).toEqual([]);
    expect(memo).toMatchObject({ presented: undefined });
    readPlainHead(bytesOf([host, `User-Agent: ${"a".repeat(3_000)}`]), last);
    expect(last.lines).toEqual([]);
  });

  it("is not kept again and again for a client that sends another one each time", () => {
    const last = new LastHeads();
    for (let at = 0; at < 20; at += 1) readPlainHead(bytesOf([host, `User-Agent: ${at}`]), last);
    expect(last.linesLeft).toBe(0);
    const known = bytesOf([host, "User-Agent: 7"]);
    expect(headIn(readPlainHead(known, last)).memo).toBe(last.lines[0]?.memo);
    // It comes again, so that the next may be kept.
    expect(last.linesLeft).toBe(8);
  });

  it("leaves its names behind, in their order, and none of a head that is another reader's", () => {
    const names = new LastHeads();
    const sent = () => names.names.map((one) => one.name);
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

function readAlone(bytes: Buffer): PlainRead {
  return readPlainHead(bytes, new LastHeads());
}

/** What it says, without what is remembered with it. */
function saidBy(read: PlainRead): unknown {
  return typeof read === "string" ? read : { ...read, memo: undefined };
}

function headIn(read: PlainRead): PlainHead {
  if (typeof read === "string") throw new Error(`no head: ${read}`);
  return read;
}

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
