import { currentSecret, testControl } from "@gateway/control/worker/rig/control.ts";
import { recordedMetrics } from "@gateway/core/rig/recorder.ts";
import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import { err, ok } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import type { Generation } from "@gateway/core/snapshot/generation.ts";
import { newLife, type ConfigLife } from "@gateway/core/snapshot/lifecycle.ts";
import { describe, expect, it } from "vitest";
import { followControlPlane, type WorkerConfig, type WorkerConfigParts } from "./followConfig.ts";
import { lastGoodOf } from "./lastGood.ts";
import { servePeers } from "./servePeers.ts";
import { peerPath } from "./peerProof.ts";
import { reportOf } from "../status.ts";
import { overApp, silence, status, type Answering } from "../rig/link.ts";

const secret = new Secret(currentSecret);
const url = "https://control";

describe("followControlPlane", () => {
  it("follows a real control plane: an edit is active, and a heartbeat reports it", async () => {
    const control = await testControl();
    await control.commit("one");
    const worker = workerOf(control.host, overApp(control.app));
    await worker.until(() => worker.active().includes("one"));
    await control.commit("two");
    await worker.until(() => worker.active().includes("two"));
    expect(worker.closed).toEqual([["one"]]);
    expect(worker.config.life()).toMatchObject({ state: { kind: "active" }, lastError: undefined });
    control.stop();
    await worker.end();
  });

  it("tells the registry of an edit within two seconds, and then rests", async () => {
    const control = await testControl();
    await control.commit("one");
    let beats = 0;
    const whole = overApp(control.app);
    const worker = workerOf(control.host, (request, signal) => {
      if (request.url.endsWith("/heartbeat")) beats += 1;
      return whole(request, signal);
    });
    await worker.until(() => worker.active().includes("one"));
    await control.host.advance(60_000);
    await control.commit("two");
    await worker.until(() => worker.active().includes("two"));
    await control.host.advance(2_000);
    const rows = await control.deps.store.workers.list({ limit: 10, cursor: undefined });
    const [row] = rows.ok ? rows.value.items : [];
    expect(row?.activeRevision).toBe(control.deps.config.current()?.revision.hash);
    expect(beats).toBeLessThan(12);
    control.stop();
    await worker.end();
  });

  it("keeps serving when the control plane is gone, and says so", async () => {
    let gone = false;
    const control = await testControl();
    await control.commit("one");
    const whole = overApp(control.app);
    const worker = workerOf(control.host, (request, signal) =>
      gone
        ? Promise.resolve(err({ code: "unreachable", detail: "ECONNREFUSED" }))
        : whole(request, signal),
    );
    await worker.until(() => worker.active().includes("one"));
    gone = true;
    await control.host.advance(600_000);
    expect(worker.active()).toEqual(["one"]);
    expect(worker.config.life().consecutiveFailures).toBeGreaterThan(5);
    expect(worker.inARow()).toBe(worker.config.life().consecutiveFailures);
    gone = false;
    await control.host.advance(120_000);
    expect(worker.inARow()).toBe(0);
    expect(worker.config.life()).toMatchObject({ consecutiveFailures: 0, lastError: undefined });
    control.stop();
    await worker.end();
  });

  it("rejects a snapshot that can not be opened whole, and counts it once", async () => {
    const control = await testControl();
    await control.commit("one");
    const worker = workerOf(control.host, overApp(control.app), { broken: "bad" });
    await worker.until(() => worker.active().includes("one"));
    const before = worker.config.active()?.head;
    await control.commit("bad");
    await worker.until(() => worker.failures() === 1);
    await control.host.advance(300_000);
    expect(worker.failures()).toBe(1);
    expect(worker.active()).toEqual(["one"]);
    expect(worker.config.life().lastError?.text).toBe("clusters.bad: no such driver");
    expect(worker.config.active()?.head.revision).toBe(before?.revision);
    control.stop();
    await worker.end();
  });

  it("starts from a peer, stale, and is confirmed when the control plane answers", async () => {
    const control = await testControl();
    await control.commit("one");
    const first = workerOf(control.host, overApp(control.app));
    await first.until(() => first.active().includes("one"));
    const answer = servePeers({
      host: control.host,
      secrets: [secret],
      active: () => first.config.active(),
      callerAddress: () => "192.0.2.1",
    });

    let gone = true;
    const whole = overApp(control.app);
    const peer = overApp({ fetch: (request) => answer(request) });
    const own: VirtualHost = { ...control.host, metrics: recordedMetrics() };
    const second = workerOf(
      own,
      (request, signal) => {
        if (request.url.endsWith(peerPath)) return peer(request, signal);
        return gone ? Promise.resolve(status(503)) : whole(request, signal);
      },
      { peers: true },
    );
    await control.host.advance(9_000);
    expect(second.active()).toEqual([]);
    await control.host.advance(2_000);
    await second.until(() => second.active().includes("one"));
    expect(second.config.life().state).toMatchObject({ kind: "copied", taken: { source: "peer" } });
    expect(second.stale()).toBe(1);

    gone = false;
    await control.host.advance(120_000);
    expect(second.config.life().state).toMatchObject({
      kind: "active",
      taken: { source: "controlPlane" },
    });
    expect(second.stale()).toBe(0);
    expect(second.opened).toBe(1);
    control.stop();
    await first.end();
    await second.end();
  });

  it("starts from disk with everything else dead, after a second of silence", async () => {
    const files = new Map<string, Uint8Array>();
    const control = await testControl();
    await control.commit("one");
    const first = workerOf(control.host, overApp(control.app), { files });
    await first.until(() => first.active().includes("one"));
    control.stop();
    await first.end();
    expect(files.size).toBe(1);

    const later = virtualHost(5);
    await later.advance(3_600_000);
    const second = workerOf(later, (_request, signal) => silence(signal), { files });
    await later.advance(999);
    expect(second.active()).toEqual([]);
    await later.advance(1);
    await second.until(() => second.active().includes("one"));
    expect(second.config.life().state).toMatchObject({ kind: "copied", taken: { source: "disk" } });
    await second.end();

    const tooLate = virtualHost(6);
    await tooLate.advance(86_400_000 + 3_600_000);
    const third = workerOf(tooLate, (_request, signal) => silence(signal), { files });
    await tooLate.advance(30_000);
    expect(third.active()).toEqual([]);
    expect(third.config.life().lastError?.text).toMatch("86400 s are allowed");
    await third.end();
  });

  it("does not let its confirmation grow younger from answers that anybody could give", async () => {
    let frozen = false;
    const control = await testControl();
    await control.commit("one");
    const whole = overApp(control.app);
    const worker = workerOf(control.host, (request, signal) =>
      frozen ? Promise.resolve(status(304)) : whole(request, signal),
    );
    await worker.until(() => worker.active().includes("one"));
    await control.host.advance(20_000);
    const confirmed = () =>
      control.host.metrics.value("gateway_worker_config_confirmed_timestamp_seconds", {});
    const before = confirmed();
    expect(before).toBeGreaterThan(0);
    frozen = true;
    await control.host.advance(3_600_000);
    expect(confirmed()).toBe(before);
    control.stop();
    await worker.end();
  });

  it("reads the disk at the first failure, without waiting for the second to pass", async () => {
    const files = new Map([["last-good", new Uint8Array(5)]]);
    const host = virtualHost(1);
    const refusing: Answering = () =>
      Promise.resolve(err({ code: "unreachable", detail: "ECONNREFUSED" }));
    const worker = workerOf(host, refusing, { files });
    await worker.until(() => worker.failures() === 1);
    expect(host.clock.nowMs()).toBe(0);
    await worker.end();
  });

  it("does not begin with a URL that would show the secret", () => {
    const host = virtualHost(1);
    const parts = partsOf(host, (_request, signal) => silence(signal));
    const control = { ...parts.control, url: "http://control" };
    expect(followControlPlane({ ...parts, control })).toMatchObject({ ok: false });
  });
});

interface Options {
  /** A cluster of this name can not be opened. */
  readonly broken?: string;
  readonly peers?: true;
  readonly files?: Map<string, Uint8Array>;
}

function workerOf(host: VirtualHost, answer: Answering, options: Options = {}) {
  const state = { active: [] as readonly string[], opened: 0 };
  const closed: (readonly string[])[] = [];
  let config: WorkerConfig | undefined;
  const followed = followControlPlane({
    ...partsOf(host, answer, options, () => config?.life() ?? newLife),
    open: (snapshot) => {
      const clusters = Object.keys(snapshot.body.clusters).toSorted();
      if (options.broken !== undefined && clusters.includes(options.broken)) {
        return Promise.resolve(err([`clusters.${options.broken}: no such driver`]));
      }
      state.opened += 1;
      return Promise.resolve(ok(generationOf(clusters)));
    },
    generations: {
      swap: (next) => {
        if (state.active.length > 0) closed.push(state.active);
        state.active = next?.catalogs() ?? [];
        return Promise.resolve();
      },
    },
  });
  if (!followed.ok) throw new Error(followed.error);
  config = followed.value;
  const { value } = followed;
  const failures = () =>
    host.metrics.value("gateway_config_reload_failures_total", { stage: "worker_activate" });
  return {
    config: value,
    closed,
    failures,
    active: () => state.active,
    get opened() {
      return state.opened;
    },
    stale: () => host.metrics.value("gateway_worker_config_stale", {}),
    inARow: () => host.metrics.value("gateway_worker_config_consecutive_failures", {}),
    until: async (done: () => boolean) => {
      for (let turn = 0; !done(); turn += 1) {
        if (turn > 20_000) throw new Error("it did not happen");
        await host.settle();
      }
    },
    end: () => value[Symbol.asyncDispose](),
  };
}

function partsOf(
  host: VirtualHost,
  answer: Answering,
  options: Options = {},
  life: () => ConfigLife = () => newLife,
): WorkerConfigParts {
  const { files } = options;
  const transport = { send: answer, [Symbol.asyncDispose]: () => Promise.resolve() };
  const disk = files && {
    maxAgeSecs: 86_400,
    lastGood: lastGoodOf({ host, secrets: [secret], controlPlaneUrl: url, dir: memoryDir(files) }),
  };
  return {
    host,
    transport,
    control: { url, allowInsecureHttp: false, secrets: [secret], pollTimeoutSecs: 30 },
    presence: {
      name: "pod-1",
      version: "0.1.0",
      heartbeatIntervalSecs: 10,
      labels: () => ({}),
      report: () => reportOf({ life: life(), draining: false, queries: [] }),
      leasesLost: () => {},
      cancel: () => {},
      predecessorProof: () => undefined,
      registered: () => {},
    },
    peers: options.peers && {
      address: "peers:9000",
      scheme: "http",
      transport,
      afterSecs: 10,
      maxAgeSecs: 86_400,
      resolve: () => Promise.resolve(["10.0.0.1"]),
    },
    disk,
    generations: { swap: () => Promise.resolve() },
    open: () => Promise.resolve(err(["not opened here"])),
    changed: () => {},
  };
}

function memoryDir(files: Map<string, Uint8Array>) {
  return {
    read: (name: string) => Promise.resolve(ok(files.get(name))),
    write: (name: string, bytes: Uint8Array) => {
      files.set(name, bytes);
      return Promise.resolve(ok(undefined));
    },
  };
}

/** A generation of which only the clusters matter; calling anything else of it is a bug of the test. */
function generationOf(clusters: readonly string[]): Generation {
  const close = (): Promise<void> => Promise.resolve();
  return { catalogs: () => clusters, close } as Partial<Generation> as Generation;
}
