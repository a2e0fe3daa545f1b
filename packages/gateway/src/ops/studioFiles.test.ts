import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rootSchema } from "../config/schema.ts";
import { opsApp } from "./app.ts";
import { callersBehind } from "./callers.ts";
import { listenOps, type OpenOps } from "./listen.ts";
import { studioFiles } from "./studioFiles.ts";

const asset = "/studio/assets/index-AbCd1234.js";
let folder: string;
let ops: OpenOps;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "studio-files-"));
  const dist = join(folder, "dist");
  mkdirSync(join(dist, "assets"), { recursive: true });
  writeFileSync(join(folder, "secret.txt"), "kept apart");
  writeFileSync(join(dist, "index.html"), "<!doctype html><title>Studio</title>");
  writeFileSync(join(dist, "assets/index-AbCd1234.js"), "export {};");
  writeFileSync(join(dist, "assets/index-AbCd1234.js.br"), "brotli");
  symlinkSync(join(folder, "secret.txt"), join(dist, "linked.txt"));
  const none = join(folder, "none");
  const control = { fetch: () => new Response("control") };
  const plain = { notReady: () => undefined, metrics: async () => "", metricsType: "text/plain" };
  const studio = studioFiles([none, dist]);
  const app = async () => opsApp({ ...plain, allowedHosts: [], control, studio });
  const { adminApi } = rootSchema.parse({ gateway: { adminApi: { port: 0 } } }).gateway;
  const answers = { plain, app, callers: callersBehind([]) };
  const opened = await listenOps(adminApi, answers, virtualHost(1));
  if (!opened.ok) throw new Error(opened.error.detail);
  ops = opened.value;
});

afterAll(async () => {
  await ops.close();
  rmSync(folder, { recursive: true });
});

describe("studioFiles", () => {
  it("serves a deep link the page, which is asked for again each time and may run nothing inline", async () => {
    const dotted = ["/studio/revisions/1795702364.1", "/studio/clusters/lake.eu"];
    for (const path of ["/studio/", "/studio/queries/q-1?tab=trace", ...dotted, "/"]) {
      const { status, headers, body } = await ask(path, path === "/");
      expect([path, status, body]).toEqual([path, 200, "<!doctype html><title>Studio</title>"]);
      expect(headers["cache-control"]).toBe("no-cache");
      const policy = String(headers["content-security-policy"]);
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe");
      expect(headers["x-content-type-options"]).toBe("nosniff");
    }
    const { headers } = await ask("/studio/");
    const tag = String(headers["etag"]);
    expect((await ask("/studio/", false, { "if-none-match": tag })).status).toBe(304);
  });

  it("lets what has its hash in its name be kept for good, in the smallest form the client takes", async () => {
    const plain = await ask(asset);
    expect(plain.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(plain.headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect(plain.body).toBe("export {};");
    const small = await ask(asset, false, { "accept-encoding": "gzip, br" });
    expect([small.headers["content-encoding"], small.body]).toEqual(["br", "brotli"]);
    const refused = await ask(asset, false, { "accept-encoding": "br;q=0" });
    expect(refused.body).toBe("export {};");
  });

  it("has no path that leads out of its folder, and answers no missing file with the page", async () => {
    const paths = [
      "/studio/../secret.txt",
      "/studio/%2e%2e/secret.txt",
      "/studio/..%2fsecret.txt",
      "/studio/assets/..%2f..%2f..%2fsecret.txt",
      "/studio/%2fetc%2fpasswd.txt",
      "/studio/..%5csecret.txt",
      "/studio/linked.txt",
      "/studio/assets/index-gone0000.js",
      "/studio/%ff",
    ];
    for (const path of paths) {
      const { status, body } = await ask(path);
      expect([path, status]).toEqual([path, 404]);
      expect(body).not.toContain("kept apart");
      expect(body).not.toContain("doctype");
    }
  });

  it("says how to get the files where they are not built", async () => {
    const missing = await studioFiles([join(folder, "none")]).answer(
      new Request("http://localhost/studio/"),
    );
    expect(missing.status).toBe(404);
    expect(await missing.text()).toContain("npm run build");
  });
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

/** Sends the path as it stands: `fetch` would tidy it up. `follow`: one redirect. */
function ask(
  path: string,
  follow = false,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port: ops.port, path, headers }, (response) => {
      const { location } = response.headers;
      if (follow && location !== undefined) {
        response.resume();
        resolve(ask(location));
        return;
      }
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      response.on("end", () => {
        resolve({ status: response.statusCode, headers: response.headers, body });
      });
    });
    sent.once("error", reject).end();
  });
}
