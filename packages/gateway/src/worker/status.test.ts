import { heartbeatSchema } from "@gateway/contract/workerApi.ts";
import { virtualStartUnixMs as nowMs } from "@gateway/core/rig/virtual.ts";
import {
  lifeAfter,
  newLife,
  offerOfHead,
  type ConfigLife,
  type ConfigOutcome,
} from "@gateway/core/snapshot/lifecycle.ts";
import { describe, expect, it } from "vitest";
import { reportOf, workerStatus } from "./status.ts";
import { snapshotOf } from "./rig/snapshot.ts";

const { head } = snapshotOf({ confirmedAt: nowMs - 60_000 });

describe("workerStatus", () => {
  it("has every field of the specification, also before anything is known", () => {
    expect(statusOf(newLife)).toMatchInlineSnapshot(`
      {
        "activeRevision": null,
        "configSource": null,
        "confirmedAt": null,
        "consecutiveFailures": 0,
        "downloadedRevision": null,
        "historyPolicy": {
          "endpoint": "https://history.example/in",
          "redaction": "maskLiterals",
        },
        "historyUplink": {
          "diskError": "ENOSPC",
          "dropped": 2,
          "lastError": null,
          "queued": 1,
          "sent": 3,
        },
        "lastError": null,
        "lastErrorAt": null,
        "lastGood": {
          "lastError": null,
        },
        "lastSync": null,
        "name": "pod-1",
        "stale": false,
      }
    `);
  });

  it("says that a copy is stale, since when it is confirmed, and what failed", () => {
    const status = statusOf(after(copied(), unreachable()));
    expect(status).toMatchObject({
      activeRevision: `1.1.${head.revision}`,
      configSource: "peer",
      stale: true,
      confirmedAt: "2025-12-31T23:59:00.000Z",
      lastSync: null,
      lastError: "no answer",
      lastErrorAt: "2026-01-01T00:00:00.000Z",
      consecutiveFailures: 1,
    });
  });

  it("shows no token of an endpoint's URL", () => {
    expect(JSON.stringify(statusOf(newLife))).not.toContain("hunter2");
  });
});

describe("reportOf", () => {
  it("fits the contract in every state, with the oldest queries first", () => {
    const queries = Array.from({ length: 1_200 }, (_, index) => ({
      id: `q${index}`,
      state: "running" as const,
      since: 2_000 - index,
    }));
    for (const life of [newLife, after(copied()), after(unreachable())]) {
      const report = reportOf({ life, draining: false, queries });
      const whole = { ...report, name: "pod-1", instanceId: "i".repeat(24) };
      expect(heartbeatSchema.safeParse(whole).success).toBe(true);
      expect(report.queries[0]?.id).toBe("q1199");
    }
  });

  it("has a status for each state of the worker", () => {
    const rejection = {
      source: "controlPlane",
      stage: "compile",
      revision: { epoch: 1, sequence: 2, hash: `sha256:${"b".repeat(64)}` },
      reason: "no driver",
    } as const;
    const lives: readonly [ConfigLife, boolean, string][] = [
      [newLife, false, "starting"],
      [after(unreachable()), false, "error"],
      [after(copied()), false, "stale"],
      [after({ ...copied(), kind: "fetched" }), false, "active"],
      [after({ ...copied(), kind: "fetched" }, unreachable()), false, "active"],
      [after(copied(), { kind: "rejected", rejection }), false, "error"],
      [newLife, true, "draining"],
    ];
    for (const [life, draining, status] of lives) {
      expect(reportOf({ life, draining, queries: [] }).status).toBe(status);
    }
  });
});

function statusOf(life: ConfigLife) {
  return workerStatus({
    name: "pod-1",
    life,
    history: {
      redaction: "maskLiterals",
      endpoint: "https://ann:hunter2@history.example/in?token=hunter2",
    },
    uplink: { queued: 1, sent: 3, dropped: 2, lastError: undefined, diskError: "ENOSPC" },
    lastGoodProblem: undefined,
  });
}

function after(...outcomes: readonly ConfigOutcome[]): ConfigLife {
  return outcomes.reduce((life, came) => lifeAfter(life, came, nowMs).life, newLife);
}

function copied(): Extract<ConfigOutcome, { kind: "copied" }> {
  return { kind: "copied", offer: offerOfHead("peer", head), head };
}

function unreachable(): ConfigOutcome {
  return { kind: "unreachable", source: "controlPlane", reason: "no answer" };
}
