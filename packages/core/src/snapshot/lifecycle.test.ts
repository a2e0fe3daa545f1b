import { compareRevisions } from "@gateway/contract/revision.ts";
import type { SnapshotHead } from "@gateway/contract/snapshot.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type SourceEvent, offerSources, type OfferSource } from "../port/configSource.ts";
import {
  judgeEvent,
  lifeAfter,
  newLife,
  offerOfHead,
  takenOf,
  transitions,
  type ConfigLife,
  type ConfigOutcome,
} from "./lifecycle.ts";
import { clockSkewMsMax } from "./offer.ts";

const nowMs = 1_767_225_600_000;
const limits = { copyAgeMsMax: 86_400_000, clockSkewMsMax };

describe("transitions", () => {
  it("is the table of the specification", () => {
    const rows = Object.entries(transitions).map(([state, row]) => [
      state,
      Object.entries(row).map(([came, { to, does }]) => `${came}: ${to}, ${does}`),
    ]);
    expect(Object.fromEntries(rows)).toMatchInlineSnapshot(`
      {
        "active": [
          "fetched: active, swap",
          "copied: copied, swap",
          "confirmed: active, stay",
          "moved: active, stay",
          "reminded: active, stay",
          "rejected: active, report",
          "unreachable: active, stay",
        ],
        "copied": [
          "fetched: active, swap",
          "copied: copied, swap",
          "confirmed: active, vouch",
          "moved: copied, stay",
          "reminded: copied, stay",
          "rejected: copied, report",
          "unreachable: copied, stay",
        ],
        "none": [
          "fetched: active, swap",
          "copied: copied, swap",
          "confirmed: none, stay",
          "moved: none, stay",
          "reminded: none, stay",
          "rejected: none, report",
          "unreachable: none, stay",
        ],
      }
    `);
  });
});

describe("lifeAfter", () => {
  it("becomes active with the first fetched snapshot", () => {
    const { life, action } = lifeAfter(newLife, fetched(2), nowMs);
    expect(action).toBe("swap");
    expect(life).toMatchObject({
      state: { kind: "active", taken: { source: "controlPlane", confirmedAtMs: nowMs } },
      downloaded: { sequence: 2 },
      lastSyncAtMs: nowMs,
      consecutiveFailures: 0,
    });
  });

  it("is stale with a copy until the control plane confirms it", () => {
    const copy = after(newLife, copied(2, nowMs - 5_000));
    expect(copy.state).toMatchObject({ kind: "copied", taken: { source: "peer" } });
    expect(copy.lastSyncAtMs).toBeUndefined();
    const { life, action } = lifeAfter(copy, confirmed(2, nowMs), nowMs);
    expect(action).toBe("vouch");
    expect(life.state).toMatchObject({
      kind: "active",
      taken: { source: "controlPlane", confirmedAtMs: nowMs },
    });
  });

  it("keeps the age of a copy that only learned a higher position", () => {
    const copy = after(newLife, copied(2, nowMs - 5_000));
    const moved = after(copy, { ...copied(3, nowMs), kind: "moved" });
    expect(takenOf(moved)).toMatchObject({
      revision: { sequence: 3 },
      source: "peer",
      confirmedAtMs: nowMs - 5_000,
    });
  });

  it("takes the position from the control plane and lets a confirmation never get older", () => {
    const active = after(newLife, fetched(2));
    expect(takenOf(after(active, confirmed(3, nowMs)))?.revision.sequence).toBe(3);
    expect(takenOf(after(active, confirmed(2, nowMs - 9_000)))?.confirmedAtMs).toBe(nowMs);
  });

  it("keeps what is active whatever fails, and says what failed", () => {
    const active = after(newLife, fetched(2));
    const failed = after(active, unreachable("controlPlane"), rejected("compile", 3));
    expect(takenOf(failed)).toEqual(takenOf(active));
    expect(failed).toMatchObject({
      consecutiveFailures: 2,
      lastError: { text: "no driver", atMs: nowMs },
      downloaded: { sequence: 3 },
      rejected: { sequence: 3 },
    });
  });

  it("counts failures on the way to the control plane, not those of copies", () => {
    const life = after(newLife, unreachable("peer"), unreachable("disk"));
    expect(life.consecutiveFailures).toBe(0);
    expect(after(life, unreachable("controlPlane")).consecutiveFailures).toBe(1);
  });

  it("goes on failing while the control plane only repeats what can not be activated", () => {
    const life = after(newLife, fetched(2), rejected("compile", 3), { kind: "reminded" });
    expect(life).toMatchObject({ consecutiveFailures: 1, lastError: { text: "no driver" } });
    expect(after(life, fetched(4))).toMatchObject({
      consecutiveFailures: 0,
      lastError: undefined,
      rejected: undefined,
    });
  });
});

describe("judgeEvent", () => {
  it("compiles what has a body, and only announces what has none", () => {
    const event = offered("controlPlane", headOf(2));
    expect(judge(newLife, event).kind).toBe("compile");
    expect(judge(newLife, { ...event, body: undefined })).toMatchObject({ kind: "ignore" });
  });

  it("knows the head of what can not be activated", () => {
    const life = after(newLife, fetched(2), rejected("compile", 3));
    const head = { ...offered("controlPlane", headOf(3, "b")), body: undefined };
    expect(judge(life, head)).toMatchObject({ outcome: { kind: "reminded" } });
  });

  it("ignores the head of a replica that lags behind, and rejects its snapshot", () => {
    const life = after(newLife, fetched(2));
    const event = offered("controlPlane", headOf(1));
    expect(judge(life, { ...event, body: undefined })).toMatchObject({
      kind: "ignore",
      refusal: { code: "rollback" },
    });
    expect(judge(life, event)).toMatchObject({
      outcome: { kind: "rejected", rejection: { stage: "judge" } },
    });
  });

  it("rejects what could not be verified", () => {
    const event = { kind: "unverified", source: "peer", reason: "the hash does not fit" } as const;
    expect(judge(newLife, event)).toMatchObject({
      outcome: { kind: "rejected", rejection: { stage: "verify", reason: event.reason } },
    });
  });

  it("never activates an older position or forgets what is active, whatever comes", () => {
    fc.assert(
      fc.property(fc.array(anyEvent(), { maxLength: 60 }), (events) => {
        let life = newLife;
        for (const { event, compiles } of events) {
          const next = afterEvent(life, event, compiles);
          const [before, then] = [takenOf(life), takenOf(next)];
          const from = before?.revision ?? { epoch: 0, sequence: 0, hash: "" };
          const to = then?.revision ?? { epoch: 0, sequence: 0, hash: "" };
          expect(compareRevisions(to, from)).toBeGreaterThanOrEqual(0);
          expect(next.state.kind === "active").toBe(then?.source === "controlPlane");
          life = next;
        }
      }),
    );
  });
});

function afterEvent(life: ConfigLife, event: SourceEvent<string>, compiles: boolean): ConfigLife {
  const judged = judge(life, event);
  switch (judged.kind) {
    case "ignore":
      return life;
    case "outcome":
      return after(life, judged.outcome);
    case "compile": {
      const { offer, head } = judged;
      if (!compiles) return after(life, rejected("compile", offer.revision.sequence));
      const kind = offer.source === "controlPlane" ? "fetched" : "copied";
      return after(life, { kind, offer, head });
    }
  }
}

function judge(life: ConfigLife, event: SourceEvent<string>) {
  return judgeEvent(life, event, nowMs, limits);
}

function after(life: ConfigLife, ...outcomes: readonly ConfigOutcome[]): ConfigLife {
  return outcomes.reduce((before, came) => lifeAfter(before, came, nowMs).life, life);
}

function anyEvent(): fc.Arbitrary<{
  readonly event: SourceEvent<string>;
  readonly compiles: boolean;
}> {
  const head = fc
    .record({
      sequence: fc.integer({ min: 1, max: 9 }),
      letter: fc.constantFrom("a", "b"),
      ageMs: fc.constantFrom(0, 1_000, 100_000_000, -100_000),
    })
    .map(({ sequence, letter, ageMs }) => headOf(sequence, letter, nowMs - ageMs));
  const source = fc.constantFrom(...offerSources);
  const offer = fc
    .tuple(source, head, fc.boolean())
    .map(([from, of, whole]) => ({ ...offered(from, of), body: whole ? "body" : undefined }));
  const failure = fc.tuple(fc.constantFrom("unverified", "unreachable"), source);
  return fc.record({
    event: fc.oneof<fc.Arbitrary<SourceEvent<string>>[]>(
      offer,
      failure.map(([kind, from]) => ({ kind, source: from, reason: "broken" }) as const),
    ),
    compiles: fc.boolean(),
  });
}

function fetched(sequence: number): Extract<ConfigOutcome, { kind: "fetched" }> {
  const head = headOf(sequence);
  return { kind: "fetched", offer: offerOfHead("controlPlane", head), head };
}

function copied(sequence: number, confirmedAt: number): Extract<ConfigOutcome, { kind: "copied" }> {
  const head = headOf(sequence, "a", confirmedAt);
  return { kind: "copied", offer: offerOfHead("peer", head), head };
}

function confirmed(sequence: number, confirmedAt: number): ConfigOutcome {
  const head = headOf(sequence, "a", confirmedAt);
  return { kind: "confirmed", offer: offerOfHead("controlPlane", head), head };
}

function rejected(stage: "verify" | "compile", sequence: number): ConfigOutcome {
  const { revision } = offerOfHead("controlPlane", headOf(sequence, "b"));
  const rejection = { source: "controlPlane", stage, revision, reason: "no driver" } as const;
  return { kind: "rejected", rejection };
}

function unreachable(source: OfferSource): ConfigOutcome {
  return { kind: "unreachable", source, reason: "connection refused" };
}

function offered(
  source: OfferSource,
  head: SnapshotHead,
): Extract<SourceEvent<string>, { kind: "offer" }> {
  return { kind: "offer", offer: offerOfHead(source, head), head, body: "body" };
}

function headOf(sequence: number, letter = "a", confirmedAt = nowMs): SnapshotHead {
  const revision = `sha256:${letter.repeat(64)}`;
  return { schemaVersion: 1, revision, epoch: 1, sequence, confirmedAt, mac: "0".repeat(64) };
}
