/** A response that is read by pieces, and a request whose body is sent so. */
import { once } from "node:events";
import type { Socket } from "node:net";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { certificateOf } from "../../../../frontends/src/listener/rig/certificate.ts";
import type { Http1Pool } from "./pool.ts";
import { answering, answerOf, asked, closeAll, poolOf, requestOf, serverOf } from "./rig/pool.ts";

afterEach(closeAll);

const chunked =
  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";

describe("a paused response", () => {
  it("goes on where it stood, and leaves a connection that hears its server", async () => {
    const server = await serverOf(({ path }) => (path === "/1" ? chunked : answerOf(path)));
    const { pool } = poolOf(server.origin);
    const reading = paused(pool, "/1");
    await reading.stopped();
    expect(reading.body()).toBe("abc");
    reading.go();
    // It was here already.
    expect(reading.body()).toBe("abcde");
    reading.go();
    expect(reading.told).toEqual(["sent", "head 200", "end"]);
    expect((await asked(pool, { path: "/2" })).body).toBe("/2");
    expect(server.sockets).toHaveLength(1);
    const [socket] = server.sockets;
    await (socket && once(socket.end(), "close"));
    expect((await asked(pool, { path: "/3" })).body).toBe("/3");
    expect(server.sockets).toHaveLength(2);
  });

  it.each(["plain", "TLS"])("is told the end that came meanwhile, over %s", async (kind) => {
    const authority = certificateOf("authority");
    const certificate = kind === "TLS" ? certificateOf("localhost", authority) : undefined;
    const server = await serverOf(
      (_request, socket) => void socket.end("HTTP/1.1 200 OK\r\n\r\nabc"),
      certificate,
    );
    const origin = server.origin.replace("127.0.0.1", "localhost");
    const { pool } = poolOf(origin, { tls: { minVersion: "TLSv1.2", ca: authority.cert } });
    const reading = paused(pool, "/");
    await reading.stopped();
    // As many turns as another connection takes.
    expect((await asked(pool, { path: "/other" })).body).toBe("abc");
    expect(reading.told).toEqual(["sent", "head 200"]);
    reading.go();
    await reading.over;
    expect([reading.body(), ...reading.told]).toEqual(["abc", "sent", "head 200", "end"]);
  });

  it("ends with its connection when it is cancelled", async () => {
    const server = await serverOf(({ path }) => (path === "/1" ? chunked : answerOf(path)));
    const { pool } = poolOf(server.origin, { connectionsMax: 1 });
    const reading = paused(pool, "/1");
    await reading.stopped();
    reading.cancel();
    reading.go();
    expect((await asked(pool, { path: "/2" })).body).toBe("/2");
    expect([reading.body(), ...reading.told]).toEqual(["abc", "sent", "head 200"]);
    expect(server.sockets).toHaveLength(2);
  });

  it("is the same whatever its pieces are and wherever it stops", async () => {
    const server = await serverOf(({ path }, socket) => {
      const cuts = path.slice(1).split(",").map(Number);
      void writePieces(socket, chunked, cuts);
    });
    const { pool } = poolOf(server.origin, { connectionsMax: 1 });
    const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(sizes, async (cuts) => {
        const reading = paused(pool, `/${cuts.join()}`);
        while (reading.told.at(-1) !== "end") {
          await reading.stopped();
          reading.go();
        }
        expect([reading.body(), ...reading.told]).toEqual(["abcde", "sent", "head 200", "end"]);
      }),
      { numRuns: 60 },
    );
    expect(server.sockets).toHaveLength(1);
  });
});

describe("a body of pieces", () => {
  it("is sent in chunks, without an empty one in the middle", async () => {
    const server = await serverOf((request, socket) => {
      let text = request.body;
      const look = (more: string): void => {
        text += more;
        if (text.endsWith("\r\n0\r\n\r\n")) socket.write(answerOf(text));
      };
      socket.on("data", look);
      look("");
    });
    const { pool } = poolOf(server.origin);
    const body = (async function* () {
      for (const text of ["abc", "", "x".repeat(16)]) yield Buffer.from(text);
    })();
    const { body: echo } = await asked(pool, { method: "POST", path: "/rows", body });
    expect(echo).toBe(`3\r\nabc\r\n10\r\n${"x".repeat(16)}\r\n0\r\n\r\n`);
    expect(server.requests[0]?.text).toMatch(/\r\ntransfer-encoding: chunked$/);
    expect(server.requests[0]?.text).not.toContain("content-length");
  });
});

async function writePieces(socket: Socket, text: string, sizes: readonly number[]): Promise<void> {
  for (let at = 0, next = 0; at < text.length; next += 1) {
    const end = at + (sizes[next % sizes.length] ?? 1);
    const piece = text.slice(at, end);
    await new Promise((resolve) => {
      socket.write(piece, resolve);
    });
    at = end;
  }
}

/** A request that pauses at every piece of its response. */
function paused(pool: Http1Pool, path: string) {
  const told: string[] = [];
  let body = "";
  let stop: (() => void) | undefined;
  let end: (() => void) | undefined;
  let came = new Promise<void>((resolve) => (stop = resolve));
  const over = new Promise<void>((resolve) => (end = resolve));
  const request = pool.ask(requestOf({ path }), {
    ...answering(told, () => {
      stop?.();
      end?.();
    }),
    data: (bytes) => {
      body += Buffer.from(bytes).toString("latin1");
      request.pause();
      stop?.();
    },
  });
  return {
    told,
    over,
    body: () => body,
    cancel: () => request.cancel(),
    stopped: () => came,
    go: () => {
      came = new Promise<void>((resolve) => (stop = resolve));
      request.resume();
    },
  };
}
