import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { Pool } from "undici";
import { describe, expect, it } from "vitest";
import { exchange, type Body } from "./exchange.ts";

const never = new AbortController().signal;

describe("exchange", () => {
  it("answers every byte in order, also to a reader that is late", async () => {
    const piece = Buffer.alloc(1 << 20, "0123456789");
    await using served = await serving((response) => {
      for (let count = 0; count < 8; count += 1) response.write(piece);
      response.end("end");
    });
    const { statusCode, headers, body } = await exchange(served.pool, asked("/"), never);
    expect([statusCode, headers["x-kind"]]).toEqual([200, "fake"]);
    const expected = Buffer.concat([...Array.from({ length: 8 }, () => piece), Buffer.from("end")]);
    expect(Buffer.compare(await bytesOf(body), expected)).toBe(0);
  });

  it("is over at once when the signal comes while it waits for a connection, and is never sent", async () => {
    const begun: (() => void)[] = [];
    await using served = await serving((response) => void begun.push(() => response.end("late")));
    const first = exchange(served.pool, asked("/first"), never);
    const controller = new AbortController();
    const second = exchange(served.pool, asked("/second"), controller.signal);
    controller.abort(new Error("left"));
    await expect(second).rejects.toThrow("left");
    await served.seen("/first");
    for (const go of begun) go();
    expect((await bytesOf((await first).body)).toString()).toBe("late");
    const third = exchange(served.pool, asked("/third"), never);
    await served.seen("/third");
    begun.at(-1)?.();
    await bytesOf((await third).body);
    expect(served.paths).toEqual(["/first", "/third"]);
  });

  it("rejects for its reader when it is dropped or its connection breaks", async () => {
    const answers: ServerResponse[] = [];
    await using served = await serving((response) => {
      answers.push(response);
      response.write("begin");
    });
    const dropped = await exchange(served.pool, asked("/dropped"), never);
    dropped.body.drop();
    await expect(bytesOf(dropped.body)).rejects.toThrow(Error);
    const broken = await exchange(served.pool, asked("/broken"), never);
    answers.at(-1)?.destroy();
    await expect(bytesOf(broken.body)).rejects.toThrow(Error);
  });
});

interface Served extends AsyncDisposable {
  readonly pool: Pool;
  readonly paths: readonly string[];
  /** Resolves when the server was asked for the path. */
  seen(path: string): Promise<void>;
}

/** A server, and a pool of one connection to it. */
async function serving(answer: (response: ServerResponse) => void): Promise<Served> {
  const paths: string[] = [];
  const server: Server = createServer((request, response) => {
    response.setHeader("x-kind", "fake");
    paths.push(request.url ?? "");
    answer(response);
    server.emit("seen");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1, pipelining: 1 });
  return {
    pool,
    paths,
    seen: async (path) => {
      while (!paths.includes(path)) await once(server, "seen");
    },
    [Symbol.asyncDispose]: async () => {
      await pool.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

function asked(path: string) {
  return { method: "POST", path, headers: {}, body: "select 1" } as const;
}

async function bytesOf(body: Body): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}
