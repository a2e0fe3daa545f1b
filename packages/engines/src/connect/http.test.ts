import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { anyEgress, type Egress } from "@gateway/core/port/egress.ts";
import { egressBy } from "@gateway/gateway/host/egress.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { httpPool } from "./http.ts";

const loopbackRefused = egressBy((address) => /^(127\.|::1)/.test(address));

describe("httpPool", () => {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.end("here");
  });
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => void server.close());

  async function answerOf(host: string, egress: Egress): Promise<string> {
    const pool = httpPool(
      {
        origin: `http://${host}:${port}`,
        tls: { minVersion: "TLSv1.2" },
        connectionsMax: 1,
        connectTimeoutMs: 5_000,
      },
      { egress },
    );
    try {
      const { body } = await pool.request({ path: "/", method: "GET" });
      return await body.text();
    } finally {
      await pool.destroy();
    }
  }

  it("connects to names and addresses that are not refused", async () => {
    expect(await answerOf("127.0.0.1", anyEgress)).toBe("here");
    expect(await answerOf("localhost", anyEgress)).toBe("here");
  });

  it("connects to no refused address, whether it is written as a name or in digits", async () => {
    const before = asked;
    await expect(answerOf("127.0.0.1", loopbackRefused)).rejects.toMatchObject({ code: "EACCES" });
    await expect(answerOf("localhost", loopbackRefused)).rejects.toMatchObject({ code: "EACCES" });
    expect(asked).toBe(before);
  });
});
