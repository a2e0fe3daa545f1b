import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { Http1Pool } from "../../connect/http1/pool.ts";
import { closeAll, poolOf } from "../../connect/http1/rig/pool.ts";
import {
  exchange as exchangedOn,
  type Answered,
  type Body,
  type BodyStep,
  type HttpResponse,
} from "./exchange.ts";

const never = new AbortController().signal;

afterEach(closeAll);

describe("exchange", () => {
  it("answers every byte in order, also to a reader that is late", async () => {
    const piece = Buffer.alloc(1 << 20, "0123456789");
    await using served = await serving((response) => {
      for (let count = 0; count < 8; count += 1) response.write(piece);
      response.end("end");
    });
    const { statusCode, headers, body } = await answered(served.pool, "/");
    expect([statusCode, headers["x-kind"]]).toEqual([200, "fake"]);
    const expected = Buffer.concat([...Array.from({ length: 8 }, () => piece), Buffer.from("end")]);
    const { bytes, last } = await readAll(body);
    expect(Buffer.compare(bytes, expected)).toBe(0);
    expect(last).toEqual({ kind: "end" });
  });

  it("has a short answer whole with its head, and its connection is free", async () => {
    await using served = await serving((response) => response.end("short"));
    for (const path of ["/1", "/2"]) {
      const { body } = await answered(served.pool, path);
      expect(body.next()).toEqual({ kind: "bytes", bytes: Buffer.from("short") });
      expect(body.next()).toEqual({ kind: "end" });
      body.drop();
    }
    expect(served.sockets()).toBe(1);
  });

  it("holds little of what nobody reads: the server has to wait", async () => {
    const piece = Buffer.alloc(1 << 20);
    const pieces = 96;
    let written = 0;
    await using served = await serving(async (response) => {
      for (; written < pieces; written += 1) {
        if (!response.write(piece)) await once(response, "drain");
      }
      response.end();
    });
    const { body } = await answered(served.pool, "/");
    // Turns of the loop in which everything would have come.
    await using other = await serving((response) => response.end("x"));
    for (let count = 0; count < 200; count += 1) {
      await readAll((await answered(other.pool, "/")).body);
    }
    // The system's own buffers are some megabytes.
    expect(written).toBeLessThan(pieces / 3);
    const { bytes, last } = await readAll(body);
    expect([bytes.length, last.kind]).toEqual([pieces << 20, "end"]);
  });

  it("tells who waits that there is something, however much of it came at once", async () => {
    // Held for its 128 bytes each, so that the server has to wait within the first reading.
    await using served = await serving((response) => {
      response.flushHeaders();
      const { socket } = response;
      socket?.write(`${"1\r\nx\r\n".repeat(8_000)}0\r\n\r\n`);
    });
    const exchanged = exchangedOn(served.pool, asked("/"), never);
    await new Promise<void>((resolve) => {
      exchanged.wait({ came: resolve });
    });
    const response = await exchanged.answered();
    if (!response.ok) throw new Error(response.error);
    const { bytes, last } = await readAll(response.value.body);
    expect([bytes.toString(), last.kind]).toEqual(["x".repeat(8_000), "end"]);
  });

  it("is over at once when the signal comes while it waits for a connection, and is never sent", async () => {
    const begun: (() => void)[] = [];
    await using served = await serving((response) => void begun.push(() => response.end("late")));
    const first = answered(served.pool, "/first");
    const controller = new AbortController();
    const second = exchange(served.pool, asked("/second"), controller.signal);
    controller.abort(new Error("left"));
    expect(await second).toEqual({ ok: false, error: "withdrawn" });
    await served.seen("/first");
    for (const go of begun) go();
    expect((await readAll((await first).body)).bytes.toString()).toBe("late");
    const third = answered(served.pool, "/third");
    await served.seen("/third");
    begun.at(-1)?.();
    await readAll((await third).body);
    expect(served.paths).toEqual(["/first", "/third"]);
  });

  it("says what the server may have seen when it is aborted or breaks before its answer", async () => {
    const answers: ServerResponse[] = [];
    await using served = await serving((response) => void answers.push(response));
    const controller = new AbortController();
    const aborted = exchange(served.pool, asked("/aborted"), controller.signal);
    await served.seen("/aborted");
    controller.abort();
    expect(await aborted).toEqual({ ok: false, error: "aborted" });
    const broken = exchange(served.pool, asked("/broken"), never);
    await served.seen("/broken");
    answers.at(-1)?.destroy();
    expect(await broken).toEqual({ ok: false, error: "closed" });
    const nobody = poolOf("http://127.0.0.1:1").pool;
    expect(await exchange(nobody, asked("/"), never)).toEqual({ ok: false, error: "unreachable" });
  });

  it("ends for its reader when it is dropped, aborted or its connection breaks", async () => {
    const answers: ServerResponse[] = [];
    await using served = await serving((response) => {
      answers.push(response);
      response.write("begin");
    });
    const dropped = await answered(served.pool, "/dropped");
    dropped.body.drop();
    expect((await readAll(dropped.body)).last.kind).toBe("failed");
    const controller = new AbortController();
    const aborted = await answered(served.pool, "/aborted", controller.signal);
    const reading = readAll(aborted.body);
    controller.abort();
    expect((await reading).last.kind).toBe("failed");
    const broken = await answered(served.pool, "/broken");
    answers.at(-1)?.destroy();
    const read = await readAll(broken.body);
    expect([read.bytes.toString(), read.last.kind]).toEqual(["begin", "failed"]);
    expect(served.sockets()).toBe(3);
  });

  it("sends bytes as they come, and no whole body where their source breaks", async () => {
    await using served = await serving((response, body) => response.end(String(body.length)));
    const big = Buffer.alloc(3 << 20, 1);
    const { body } = await answered(
      served.pool,
      "/rows",
      never,
      piecesOf(big, Buffer.alloc(0), big),
    );
    expect((await readAll(body)).bytes.toString()).toBe(String(6 << 20));
    const broken = exchange(served.pool, { ...asked("/"), body: breaking() }, never);
    expect(await broken).toEqual({ ok: false, error: "closed" });
    expect((await readAll((await answered(served.pool, "/next")).body)).bytes.toString()).toBe("8");
    expect(served.paths).toEqual(["/rows", "/next"]);
  });

  it("reads an answer that comes before the body went out, and uses that connection no more", async () => {
    await using served = await serving((response) => response.end("no"), { early: true });
    const source = endless();
    const { body } = await answered(served.pool, "/early", never, source.bytes);
    expect((await readAll(body)).bytes.toString()).toBe("no");
    await source.ended;
    await readAll((await answered(served.pool, "/next")).body);
    expect(served.sockets()).toBe(2);
  });
});

interface Served extends AsyncDisposable {
  readonly pool: Http1Pool;
  readonly paths: readonly string[];
  /** Connections that were opened. */
  sockets(): number;
  /** Resolves when the server was asked for the path. */
  seen(path: string): Promise<void>;
}

/** A server, and a pool of one connection to it. It answers once it has the whole request, unless `early`. */
async function serving(
  answer: (response: ServerResponse, body: Buffer) => unknown,
  { early = false } = {},
): Promise<Served> {
  const paths: string[] = [];
  let sockets = 0;
  const server: Server = createServer((request, response) => {
    response.setHeader("x-kind", "fake");
    const parts: Buffer[] = [];
    const begin = (): void => {
      paths.push(request.url ?? "");
      void answer(response, Buffer.concat(parts));
      server.emit("seen");
    };
    if (early) return begin();
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", begin);
    return undefined;
  });
  server.on("connection", () => {
    sockets += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const { pool } = poolOf(`http://127.0.0.1:${port}`, { connectionsMax: 1 });
  return {
    pool,
    paths,
    sockets: () => sockets,
    seen: async (path) => {
      while (!paths.includes(path)) await once(server, "seen");
    },
    [Symbol.asyncDispose]: async () => {
      await pool.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

function asked(path: string) {
  return { method: "POST", path, headers: [], body: "select 1" } as const;
}

async function exchange(...request: Parameters<typeof exchangedOn>): Promise<Answered> {
  return exchangedOn(...request).answered();
}

async function answered(
  pool: Http1Pool,
  path: string,
  signal: AbortSignal = never,
  body: string | AsyncIterable<Uint8Array> = "select 1",
): Promise<HttpResponse> {
  const outcome = await exchange(pool, { ...asked(path), body }, signal);
  if (!outcome.ok) throw new Error(outcome.error);
  return outcome.value;
}

async function readAll(body: Body): Promise<{ readonly bytes: Buffer; readonly last: BodyStep }> {
  const parts: Uint8Array[] = [];
  for (;;) {
    const step = await body.next();
    if (step.kind !== "bytes") return { bytes: Buffer.concat(parts), last: step };
    parts.push(step.bytes);
  }
}

async function* piecesOf(...all: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* all;
}

async function* breaking(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("begin");
  throw new Error("its client left");
}

/** Bytes without an end, until nobody wants more. */
function endless() {
  let resolve: (() => void) | undefined;
  const ended = new Promise<void>((settle) => {
    resolve = settle;
  });
  async function* bytes(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        yield Buffer.alloc(1_000);
        await new Promise((later) => setImmediate(later));
      }
    } finally {
      resolve?.();
    }
  }
  return { bytes: bytes(), ended };
}
