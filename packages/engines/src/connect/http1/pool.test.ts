import { once } from "node:events";
import type { Socket } from "node:net";
import { egressBy } from "@gateway/gateway/host/egress.ts";
import { afterEach, describe, expect, it } from "vitest";
import { certificateOf } from "../../../../frontends/src/listener/rig/certificate.ts";
import { aloneMin, freshMs, headBytesMax } from "./limits.ts";
import {
  answering,
  answerOf,
  asked,
  begun,
  closeAll,
  poolOf,
  requestOf,
  serverOf,
} from "./rig/pool.ts";

afterEach(closeAll);

describe("a request", () => {
  it("is written as it was asked for, and answered on a connection that the next one uses", async () => {
    const server = await serverOf((request) => answerOf(request.body));
    const { pool } = poolOf(server.origin);
    const headers = ["x-a", "\u00e9", "x-b", ""];
    const first = await asked(pool, {
      method: "POST",
      path: "/a?b",
      headers,
      body: "\u00e9\u{1f600}",
    });
    const second = await asked(pool, { path: "/c" });
    expect(first.told).toEqual(["sent", "head 200", "end"]);
    expect(Buffer.from(first.body, "latin1").toString()).toBe("\u00e9\u{1f600}");
    expect(second.body).toBe("");
    expect(server.requests.map(({ text }) => text)).toEqual([
      `POST /a?b HTTP/1.1\r\nhost: ${server.host}\r\nconnection: keep-alive\r\nx-a: \u00e9\r\nx-b: \r\ncontent-length: 6`,
      `GET /c HTTP/1.1\r\nhost: ${server.host}\r\nconnection: keep-alive`,
    ]);
    expect(server.sockets).toHaveLength(1);
  });

  it("with a large body comes whole", async () => {
    const server = await serverOf(({ body }) => answerOf(String(body.length)));
    const { pool } = poolOf(server.origin);
    for (const body of ["a".repeat(600_000), "\u00e9".repeat(300_000)]) {
      expect((await asked(pool, { method: "POST", body })).body).toBe("600000");
    }
  });

  it.each([
    ["a line in a value", { headers: ["a", "b\r\nc: d"] }],
    ["a line feed in a value", { headers: ["a", "b\nc"] }],
    ["NUL in a value", { headers: ["a", "\0"] }],
    ["a character that latin-1 has not", { headers: ["a", "\u0100"] }],
    ["a line in a name", { headers: ["a\r\nb", "c"] }],
    ["a space in a name", { headers: ["a b", "c"] }],
    ["no name", { headers: ["", "c"] }],
    ["a name without a value", { headers: ["a"] }],
    ["a line in the path", { path: "/a HTTP/1.1\r\nb: c" }],
    ["a space in the path", { path: "/a b" }],
    ["a path that begins elsewhere", { path: "http://other/" }],
    ...["Host", "content-length", "Transfer-Encoding", "connection", "te", "expect"].map(
      (name) => [`its own ${name}`, { headers: [name, "1"] }] as const,
    ),
  ] as const)("with %s is not sent", async (_, request) => {
    const server = await serverOf(() => answerOf("x"));
    const { pool } = poolOf(server.origin);
    expect((await asked(pool, request)).told).toEqual(["failed"]);
    expect(server.sockets).toHaveLength(0);
  });

  it("waits in line for a connection, in order, and is not sent when it is cancelled there", async () => {
    const held: Socket[] = [];
    const server = await serverOf((_request, socket) => void held.push(socket));
    const { pool } = poolOf(server.origin, { connectionsMax: 1 });
    const paths = ["/1", "/2", "/3", "/4"];
    const waits = paths.map((path) => begun(pool, { path }));
    await server.until(() => held.length === 1);
    waits[1]?.asked.cancel();
    held[0]?.write(answerOf("one"));
    await waits[0]?.over;
    await server.until(() => held.length === 2);
    held[1]?.write(answerOf("three"));
    expect((await waits[2]?.over)?.body).toBe("three");
    await server.until(() => held.length === 3);
    held[2]?.write(answerOf("four"));
    expect((await waits[3]?.over)?.body).toBe("four");
    expect(server.requests.map(({ path }) => path)).toEqual(["/1", "/3", "/4"]);
    expect(server.sockets).toHaveLength(1);
    expect(waits[1]?.told).toEqual([]);
  });

  it("that is cancelled under way ends its connection alone", async () => {
    const server = await serverOf(({ path }, socket) =>
      path === "/ok" ? answerOf("x") : void socket,
    );
    const { pool } = poolOf(server.origin, { connectionsMax: 1 });
    const one = begun(pool, { path: "/held" });
    await server.until(() => server.requests.length === 1);
    const next = asked(pool, { path: "/ok" });
    one.asked.cancel();
    expect((await next).body).toBe("x");
    expect(one.told).toEqual(["sent"]);
    expect(server.sockets).toHaveLength(2);
  });
});

describe("a response", () => {
  it("may come byte by byte", async () => {
    const text = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    const server = await serverOf((_request, socket) => void writeBytes(socket, text));
    const { pool } = poolOf(server.origin);
    for (let count = 0; count < 2; count += 1) expect((await asked(pool, {})).body).toBe("abc");
    expect(server.sockets).toHaveLength(1);
  });

  it("may last until the connection ends, or say that it closes", async () => {
    const server = await serverOf(({ path }, socket) => {
      if (path === "/closes") return answerOf("x", "connection: close");
      socket.end("HTTP/1.1 200 OK\r\n\r\nabc");
      return undefined;
    });
    const { pool } = poolOf(server.origin);
    expect((await asked(pool, { path: "/closes" })).body).toBe("x");
    expect((await asked(pool, { path: "/ends" })).body).toBe("abc");
    expect((await asked(pool, { path: "/closes" })).body).toBe("x");
    expect(server.sockets).toHaveLength(3);
  });

  it.each([
    ["does not come", "", ["sent", "failed"]],
    ["is half a head", "HTTP/1.1 200 OK\r\nA: ", ["sent", "failed"]],
    ["is another protocol", "220 ready\r\n", ["sent", "failed"]],
    [
      "is shorter than its length",
      "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab",
      ["sent", "head 200", "failed"],
    ],
    [
      "has a length and chunks",
      "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
      ["sent", "failed"],
    ],
    [
      "has too large a head",
      `HTTP/1.1 200 OK\r\na: ${"b".repeat(headBytesMax)}`,
      ["sent", "failed"],
    ],
  ] as const)("that %s fails", async (_, text, told) => {
    const server = await serverOf((_request, socket) => void socket.end(text, "latin1"));
    const { pool } = poolOf(server.origin);
    expect((await asked(pool, {})).told).toEqual(told);
  });

  it("is none of the bytes that the server wrote unasked", async () => {
    const server = await serverOf(({ path }, socket) => {
      socket.write(answerOf(path));
      if (path === "/1") socket.write(answerOf("stale"));
      return undefined;
    });
    const { pool } = poolOf(server.origin);
    expect((await asked(pool, { path: "/1" })).body).toBe("/1");
    expect((await asked(pool, { path: "/2" })).body).toBe("/2");
    const stale = server.sockets.at(-1);
    stale?.write(answerOf("stale"));
    await (stale && once(stale, "close"));
    expect((await asked(pool, { path: "/3" })).body).toBe("/3");
  });

  it("whose reader has a bug ends with its connection, and nothing else", async () => {
    const server = await serverOf(() => answerOf("x"));
    const { pool, host } = poolOf(server.origin);
    const told: string[] = [];
    await new Promise<void>((resolve) => {
      pool.ask(requestOf({}), {
        ...answering(told, resolve),
        data: () => {
          throw new Error("a bug");
        },
      });
    });
    expect(told).toEqual(["sent", "head 200", "failed"]);
    expect(host.log.bugs).toHaveLength(1);
    expect((await asked(pool, {})).body).toBe("x");
  });
});

describe("a connection", () => {
  it("is given up before the server closes it, and after four seconds unless told", async () => {
    const server = await serverOf(({ path }) => answerOf("x", path.slice(1)));
    for (const [path, ms, sockets] of [
      ["/a:b", 3_900, 1],
      ["/a:b", 5_100, 2],
      ["/keep-alive:timeout=9", 6_900, 1],
      ["/keep-alive:timeout=9", 8_100, 2],
      ["/keep-alive:timeout=2", 0, 2],
    ] as const) {
      server.sockets.length = 0;
      const { pool, host } = poolOf(server.origin);
      await asked(pool, { path });
      await host.advance(ms);
      await asked(pool, { path });
      expect(server.sockets, `${path} after ${ms}`).toHaveLength(sockets);
    }
  });

  it("that the server closed is not used: no request is lost", async () => {
    const server = await serverOf(({ path }) => answerOf(path));
    const { pool } = poolOf(server.origin, { connectionsMax: 4 });
    for (let round = 0; round < 20; round += 1) {
      const paths = Array.from({ length: 8 }, (_, at) => `/${round}/${at}`);
      const answers = await Promise.all(paths.map((path) => asked(pool, { path })));
      expect(answers.map(({ body }) => body)).toEqual(paths);
      // The server is rid of all of them while none carries a request, and the client learns it by itself.
      const ending = server.sockets.splice(0).filter(({ destroyed }) => !destroyed);
      await Promise.all(ending.map((socket) => once(socket.end(), "close")));
    }
  });

  it("that can not be opened fails the requests that wait for it, also when it is refused at once", async () => {
    const server = await serverOf(() => answerOf("x"));
    const refused = egressBy((address) => /^(127\.|::1)/.test(address));
    for (const { pool } of [
      poolOf(server.origin, { connectionsMax: 2 }, refused),
      poolOf(server.origin.replace("127.0.0.1", "localhost"), { connectionsMax: 2 }, refused),
    ]) {
      const all = await Promise.all(Array.from({ length: 9 }, () => asked(pool, {})));
      expect(all.map(({ told }) => told)).toEqual(Array.from({ length: 9 }, () => ["failed"]));
    }
    expect(server.sockets).toHaveLength(0);
  });

  it("is made over TLS with an authority of one's own, and with no other", async () => {
    const authority = certificateOf("authority");
    const certificate = certificateOf("localhost", authority);
    const server = await serverOf(() => answerOf("safe"), certificate);
    const origin = server.origin.replace("127.0.0.1", "localhost");
    const trusting = poolOf(origin, { tls: { minVersion: "TLSv1.2", ca: authority.cert } });
    expect((await asked(trusting.pool, {})).body).toBe("safe");
    expect((await asked(poolOf(origin).pool, {})).told).toEqual(["failed"]);
    const other = { minVersion: "TLSv1.2", ca: authority.cert, servername: "other" } as const;
    expect((await asked(poolOf(origin, { tls: other }).pool, {})).told).toEqual(["failed"]);
    expect(server.requests).toHaveLength(1);
  });
});

describe("requests of someone who asks alone", () => {
  it("are sent at once, and not where others are under way or the connection was idle", async () => {
    const server = await serverOf(({ path }) => answerOf(path));
    const { pool, host } = poolOf(server.origin);
    for (let count = 0; count < aloneMin; count += 1) {
      const one = begun(pool, { path: "/before" });
      expect(one.told).toEqual([]);
      await one.over;
    }
    const alone = begun(pool, { path: "/alone" });
    expect(alone.told).toEqual(["sent"]);
    const both = begun(pool, { path: "/both" });
    expect(both.told).toEqual([]);
    expect((await alone.over).body).toBe("/alone");
    expect((await both.over).body).toBe("/both");
    for (let count = 0; count < aloneMin; count += 1) await asked(pool, {});
    await host.advance(freshMs);
    const idle = begun(pool, { path: "/idle" });
    expect(idle.told).toEqual([]);
    expect((await idle.over).body).toBe("/idle");
    const again = begun(pool, { path: "/again" });
    expect(again.told).toEqual(["sent"]);
    expect((await again.over).body).toBe("/again");
  });

  it("are not lost where the server closes behind its answers", async () => {
    const server = await serverOf(({ path }) => answerOf(path));
    const { pool } = poolOf(server.origin);
    for (let count = 0; count < aloneMin * 2; count += 1) {
      expect((await asked(pool, { path: `/${count}` })).body).toBe(`/${count}`);
      if (count < aloneMin) continue;
      const socket = server.sockets.at(-1);
      if (socket !== undefined) await once(socket.end(), "close");
    }
    expect(server.sockets).toHaveLength(aloneMin);
  });

  it("are not sent behind the pool's end", async () => {
    const server = await serverOf(({ path }) => answerOf(path));
    const { pool } = poolOf(server.origin);
    for (let count = 0; count < aloneMin * 2; count += 1) await asked(pool, {});
    const under = begun(pool, {});
    expect(under.told).toEqual(["sent"]);
    await pool.close();
    expect(under.told).toEqual(["sent", "failed"]);
    expect(begun(pool, {}).told).toEqual(["failed"]);
  });
});

describe("close", () => {
  it("ends what is under way and what waits, and nothing is sent behind it", async () => {
    const server = await serverOf(() => undefined);
    const { pool } = poolOf(server.origin, { connectionsMax: 1 });
    const under = begun(pool, {});
    const waiting = begun(pool, {});
    await server.until(() => server.requests.length === 1);
    await pool.close();
    expect(under.told).toEqual(["sent", "failed"]);
    expect(waiting.told).toEqual(["failed"]);
    expect((await asked(pool, {})).told).toEqual(["failed"]);
    expect(server.requests).toHaveLength(1);
  });
});

async function writeBytes(socket: Socket, text: string): Promise<void> {
  for (const character of text) {
    await new Promise((resolve) => {
      socket.write(character, resolve);
    });
  }
}
