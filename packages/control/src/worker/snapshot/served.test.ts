import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync, gzipSync } from "node:zlib";
import { snapshotSchema } from "@gateway/contract/snapshot.ts";
import { Secret } from "@gateway/core/secret.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Built } from "../../config/configuration.ts";
import { buildBody, builtOf } from "../../config/snapshot/build.ts";
import { headKeyOf, verifyHead } from "../../config/snapshot/head.ts";
import { serverOf } from "./served.ts";

const secrets = [new Secret("a".repeat(32)), new Secret("b".repeat(32))];
const confirmedAt = 1_767_225_600_000;

describe("serverOf", () => {
  it("puts a head in front of a body of any size, plain and as one gzip member", async () => {
    const serve = serverOf(secrets);
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.nat(100_000), async (text, size) => {
        const built = await builtFrom({ note: text, filler: "x".repeat(size) });
        const served = serve(built, confirmedAt, 0);
        const plain = Buffer.from(served.identity()).toString("utf8");
        expect(gunzipSync(served.gzip()).toString("utf8")).toBe(plain);
        const { head, ...body } = snapshotSchema.parse(JSON.parse(plain));
        expect(body).toEqual(built.body);
        expect(verifyHead(head, headKeyOf(secrets[0] ?? new Secret("")))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it("leaves the body's bytes as they are: readers check the hash over them", async () => {
    const built = await builtFrom({ note: "é\u{1f600}" });
    const plain = Buffer.from(serverOf(secrets)(built, confirmedAt, 0).identity());
    expect(plain.subarray(-(built.bytes.length - 1))).toEqual(Buffer.from(built.bytes.subarray(1)));
  });

  it("authenticates the head under the secret that was presented and no other", async () => {
    const built = await builtFrom({});
    const { head } = serverOf(secrets)(built, confirmedAt, 1);
    const fits = secrets.map((secret) => verifyHead(head, headKeyOf(secret)));
    expect(fits).toEqual([false, true]);
    expect(head).toMatchObject({
      confirmedAt,
      revision: built.revision.hash,
      epoch: 1,
      sequence: 1,
    });
  });

  it("makes head and bytes once for all callers of a moment, and anew when it is confirmed again", async () => {
    const serve = serverOf(secrets);
    const built = await builtFrom({});
    const first = serve(built, confirmedAt, 0);
    serve(built, confirmedAt, 1);
    expect(serve(built, confirmedAt, 0)).toBe(first);
    expect(first.gzip()).toBe(first.gzip());
    expect(serve(built, confirmedAt + 1, 0).head.confirmedAt).toBe(confirmedAt + 1);
    expect(serve(await builtFrom({ a: 1 }), confirmedAt, 0).head.revision).not.toBe(
      first.head.revision,
    );
  });

  it("compresses so that fetch and one-member readers see the whole", async () => {
    const built = await builtFrom({ filler: "y".repeat(70_000) });
    const served = serverOf(secrets)(built, confirmedAt, 0);
    const server = createServer((_req, res) => {
      res.writeHead(200, { "content-encoding": "gzip" }).end(served.gzip());
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const read = await fetch(`http://127.0.0.1:${port}/`);
    expect(new Uint8Array(await read.arrayBuffer())).toEqual(new Uint8Array(served.identity()));
    server.closeAllConnections();
    server.close();
    const stream = new Blob([served.gzip()]).stream().pipeThrough(new DecompressionStream("gzip"));
    expect(await new Response(stream).text()).toBe(Buffer.from(served.identity()).toString());
    expect(served.gzip().length).toBeLessThan(gzipSync(served.identity()).length + 500);
  });
});

function builtFrom(body: Record<string, string | number>): Promise<Built> {
  const made = buildBody([{ kind: "cluster", name: "duck", body }]);
  const revision = { epoch: 1, sequence: 1, hash: made.hash };
  return builtOf(made, { revision, schemaVersion: 1, createdAt: confirmedAt });
}
