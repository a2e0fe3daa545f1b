import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import { certificateOf } from "@gateway/frontends/listener/rig/certificate.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rootSchema } from "../config/schema.ts";
import { opsApp } from "./app.ts";
import { callersBehind } from "./callers.ts";
import { listenOps, type OpenOps } from "./listen.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ops-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

describe("listenOps", () => {
  it("answers health always and readiness with its reason", async () => {
    const state = { reason: "draining" as string | undefined };
    const ops = await openedOf(virtualHost(1), {}, () => state.reason);
    const url = `http://127.0.0.1:${ops.port}`;
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const waiting = await fetch(`${url}/readyz`);
    expect(waiting.status).toBe(503);
    expect(await waiting.json()).toEqual({ status: "notReady", reason: "draining" });
    state.reason = undefined;
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${url}/metrics`)).text()).toBe("gateway_bugs_total 0\n");
    const unknown = await fetch(`${url}/admin`);
    expect(unknown.status).toBe(404);
    expect(unknown.headers.get("content-type")).toContain("application/problem+json");
    await ops.close();
  });

  it("answers only requests that were meant for it, whatever name points at this machine", async () => {
    const app = appOf();
    const ask = (headers: Record<string, string>) => app.request("/metrics", { headers });
    expect((await ask({ host: "127.0.0.1:9000" })).status).toBe(200);
    expect((await ask({ host: "localhost" })).status).toBe(200);
    expect((await ask({ host: "gateway.internal:9000" })).status).toBe(200);
    expect((await ask({ host: "evil.example" })).status).toBe(403);
    expect((await ask({ host: "127.0.0.1", origin: "https://evil.example" })).status).toBe(403);
  });

  it("speaks TLS, takes a new certificate without a restart, and closes with a client connected", async () => {
    const first = certificateOf("first");
    const tls = writtenOf(first);
    const host = virtualHost(1);
    const ops = await openedOf(host, { tls });
    expect(ops.tls).toBe(true);
    expect(await statusOver(ops.port, first.cert)).toBe(200);
    const second = certificateOf("second");
    writtenOf(second);
    while (!host.log.lines.some(({ event }) => event === "tls.reloaded")) await host.advance(5_000);
    expect(await statusOver(ops.port, second.cert)).toBe(200);
    await expect(statusOver(ops.port, first.cert)).rejects.toThrow("certificate");
    await ops.close();
    expect(host.timerCount).toBe(0);
  });

  it("names the port in use and the files that are no certificate, and leaves nothing open", async () => {
    const ops = await openedOf(virtualHost(1), {});
    const taken = await listenOps(configOf({ port: ops.port }), partsOf(), virtualHost(1));
    expect(taken).toMatchObject({ ok: false, error: { kind: "adminApi", reason: "portInUse" } });
    await ops.close();
    const broken = { certFile: join(folder, "none.pem"), keyFile: join(folder, "none.key") };
    const refused = await listenOps(configOf({ tls: broken }), partsOf(), virtualHost(1));
    expect(refused).toMatchObject({ ok: false, error: { reason: "certificate" } });
  });
});

async function openedOf(
  host: VirtualHost,
  more: object,
  notReady: () => string | undefined = () => undefined,
): Promise<OpenOps> {
  const opened = await listenOps(configOf(more), partsOf(notReady), host);
  if (!opened.ok) throw new Error(JSON.stringify(opened.error));
  return opened.value;
}

function appOf(plain = plainOf()) {
  return opsApp({ ...plain, allowedHosts: ["gateway.internal"], control: undefined });
}

function plainOf(notReady: () => string | undefined = () => undefined) {
  return { notReady, metrics: async () => "gateway_bugs_total 0\n", metricsType: "text/plain" };
}

function partsOf(notReady?: () => string | undefined) {
  const plain = plainOf(notReady);
  return { plain, app: async () => appOf(plain), callers: callersBehind([]) };
}

function configOf(more: object) {
  const adminApi = { host: "127.0.0.1", port: 0, ...more };
  return rootSchema.parse({ gateway: { adminApi } }).gateway.adminApi;
}

function writtenOf({ cert, key }: { readonly cert: string; readonly key: string }) {
  const files = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
  writeFileSync(files.certFile, cert);
  writeFileSync(files.keyFile, key);
  return files;
}

/** The status of `/health`; rejects when the certificate is not `ca`'s. */
function statusOver(port: number, ca: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, ca, path: "/health", agent: false };
    get(options, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).once("error", reject);
  });
}
