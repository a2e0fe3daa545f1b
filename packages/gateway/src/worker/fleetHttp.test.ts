import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { currentSecret, testControl } from "@gateway/control/worker/rig/control.ts";
import { recordedLog, recordedMetrics } from "@gateway/core/rig/recorder.ts";
import { err, ok } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import type { Generation } from "@gateway/core/snapshot/generation.ts";
import { certificateOf } from "@gateway/frontends/listener/rig/certificate.ts";
import { describe, expect, it } from "vitest";
import { systemClock } from "../host/clock.ts";
import { followControlPlane } from "./snapshot/followConfig.ts";
import { httpTransport } from "./link/httpTransport.ts";
import { openSpool } from "./records/spool.ts";
import { recordOf } from "./rig/spool.ts";
import { historyUplink } from "./records/uplink.ts";

const folder = mkdtempSync(join(tmpdir(), "worker-fleet-"));

describe("a worker over TLS", () => {
  it("gets each edit of a real control plane, sends its records, and signs off", async () => {
    const control = await testControl();
    await control.commit("one");
    const authority = certificateOf("authority");
    const listener = getRequestListener((request) => control.app.fetch(request));
    const server = createServer(certificateOf("localhost", authority), (request, response) => {
      void listener(request, response);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const caFile = join(folder, "ca.pem");
    writeFileSync(caFile, authority.cert);
    const transport = httpTransport({ caFile });
    if (!transport.ok) throw new Error(transport.error);

    const host = {
      clock: systemClock,
      log: recordedLog(),
      metrics: recordedMetrics(),
      random: () => 0.5,
      randomBytes: (length: number) => control.host.randomBytes(length),
    };
    const seen = new Seen();
    const followed = followControlPlane({
      host,
      transport: transport.value,
      control: {
        url: `https://localhost:${(server.address() as AddressInfo).port}`,
        allowInsecureHttp: false,
        secrets: [new Secret(currentSecret)],
        pollTimeoutSecs: 30,
      },
      presence: {
        name: "pod-1",
        version: "0.1.0",
        heartbeatIntervalSecs: 10,
        labels: () => ({}),
        report: () => ({ status: "active", stale: false, queries: [] }),
        leasesLost: () => {},
        cancel: () => {},
        predecessorProof: () => undefined,
        registered: () => seen.tell("registered"),
      },
      peers: undefined,
      disk: undefined,
      generations: {
        swap: (next) => {
          seen.tell(next?.catalogs().join(",") ?? "");
          return Promise.resolve();
        },
      },
      open: (snapshot) => {
        const names = Object.keys(snapshot.body.clusters).toSorted();
        return Promise.resolve(names.includes("bad") ? err(["bad"]) : ok(generationOf(names)));
      },
      changed: () => {},
    });
    if (!followed.ok) throw new Error(followed.error);
    await seen.has("one");
    await control.commit("two");
    await seen.has("one,two");

    await seen.has("registered");
    const { calls, presence } = followed.value.link;
    const uplink = historyUplink({
      host,
      transport: transport.value,
      calls,
      presence,
      endpoint: () => undefined,
    });
    const parts = { worker: "pod-1", recordsMax: 100, prepare: recordAsIs, disk: undefined };
    const spool = openSpool({ host, uplink, ...parts });
    spool.append(recordOf("q1"));
    await spool.close(new AbortController().signal);
    expect(spool.status()).toMatchObject({ sent: 1, dropped: 0 });

    await followed.value[Symbol.asyncDispose]();
    expect(await presence.leave(new AbortController().signal)).toBe(true);
    await transport.value[Symbol.asyncDispose]();
    control.stop();
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
    rmSync(folder, { recursive: true });
    expect(host.log.bugs).toEqual([]);
    expect(JSON.stringify(host.log.lines)).not.toContain(currentSecret);
  });
});

/** What happened, and a way to wait for it. */
class Seen {
  readonly #events = new Set<string>();
  readonly #waiting = new Map<string, () => void>();

  tell(event: string): void {
    this.#events.add(event);
    this.#waiting.get(event)?.();
  }

  has(event: string): Promise<void> {
    if (this.#events.has(event)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.set(event, resolve);
    });
  }
}

function recordAsIs<Record>(record: Record): Record {
  return record;
}

function generationOf(clusters: readonly string[]): Generation {
  const close = (): Promise<void> => Promise.resolve();
  return { catalogs: () => clusters, close } as Partial<Generation> as Generation;
}
