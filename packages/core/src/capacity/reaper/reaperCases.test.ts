import { sightings, type Sighting } from "@gateway/contract/capacityApi.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isKnownDead,
  mayBeAsked,
  reaperVerdict,
  submissionMsMax,
  type ReaperSighting,
  type SuspectFacts,
} from "./reaperCases.ts";

const orphanKillMs = 60_000;
const nowMs = 5_000_000;
const holders = ["alive", "dead", "silent"] as const;

describe("reaperVerdict", () => {
  it("concludes nothing sooner than ten seconds after the expiry, whatever was seen", () => {
    for (const facts of everyFacts({ expiredForMs: submissionMsMax - 1 })) {
      for (const seen of sightings) {
        expect(reaperVerdict(facts, sightingOf(seen), orphanKillMs)).toEqual({
          advice: "wait",
          absent: "stays",
        });
      }
    }
    expect([mayBeAsked(submissionMsMax - 1), mayBeAsked(submissionMsMax)]).toEqual([false, true]);
  });

  it("remembers the first listing without it, and waits for another", () => {
    for (const holder of holders) {
      expect(verdictOf("absent", { holder, absentForMs: undefined })).toEqual({
        advice: "wait",
        absent: "begins",
      });
    }
  });

  it("frees after two listings without it only when they lie further apart than the engine's delay", () => {
    const advice = (absentForMs: number, delayMs: number) =>
      reaperVerdict(factsOf({ absentForMs }), sightingOf("absent", delayMs), orphanKillMs);
    expect(advice(0, 0)).toEqual({ advice: "wait", absent: "stays" });
    expect(advice(1, 0)).toEqual({ advice: "freed", absent: "stays" });
    expect(advice(5_000, 5_000).advice).toBe("wait");
    expect(advice(5_001, 5_000).advice).toBe("freed");
  });

  it("counts one listing once, however often, late or out of order its report comes", () => {
    const seen = "absent";
    const listedAgo = (ageMs: number) => ({ seen, delayMs: 500, listing: nowMs - ageMs }) as const;
    const at = (ageMs: number, facts: Partial<SuspectFacts>) =>
      reaperVerdict(factsOf({ expiredForMs: 100_000, ...facts }), listedAgo(ageMs), orphanKillMs);
    // The first was asked for at 20 s and heard of at 19 s before now.
    const heard = { absentForMs: 19_000, heardForMs: 20_000 };
    expect(at(20_000, heard)).toEqual({ advice: "wait", absent: "stays" });
    // Begun before the first was heard of, and on its way for long: no further apart than that.
    expect(at(19_800, heard).advice).toBe("wait");
    expect(at(18_500, heard).advice).toBe("wait");
    expect(at(18_499, heard).advice).toBe("freed");
    // It was shown since then: what was listed before that begins nothing anew.
    const shown = { absentForMs: undefined, heardForMs: 5_000 };
    expect(at(5_000, shown)).toEqual({ advice: "wait", absent: "stays" });
    expect(at(20_000, shown)).toEqual({ advice: "wait", absent: "stays" });
    expect(at(4_999, shown)).toEqual({ advice: "wait", absent: "begins" });
  });

  it("concludes nothing from an absence that was listed too early, later than now, or nobody knows when", () => {
    const early = { seen: "absent", delayMs: 0, listing: nowMs - 1 } as const;
    for (const listing of [early.listing, nowMs + 1, undefined]) {
      expect(reaperVerdict(factsOf({}), { ...early, listing }, orphanKillMs)).toEqual({
        advice: "wait",
        absent: "stays",
      });
    }
  });

  it("lets it run while its worker is alive", () => {
    expect(verdictOf("running", { holder: "alive", silentForMs: 10 * orphanKillMs })).toEqual({
      advice: "goesOn",
      absent: "ends",
    });
  });

  it("ends it when its worker is proven dead, or was silent for long enough", () => {
    expect(verdictOf("running", { holder: "dead", silentForMs: 0 }).advice).toBe("end");
    expect(verdictOf("running", { holder: "silent", silentForMs: orphanKillMs }).advice).toBe(
      "end",
    );
    const short = verdictOf("running", { holder: "silent", silentForMs: orphanKillMs - 1 });
    expect(short).toEqual({ advice: "wait", absent: "ends" });
  });

  it("asks again for what was told to end, and forgets an earlier absence", () => {
    for (const facts of everyFacts({})) {
      const verdict = reaperVerdict(facts, sightingOf("ending"), orphanKillMs);
      expect(verdict).toEqual({ advice: "wait", absent: "ends" });
    }
  });

  it("waits when the engine does not answer, and keeps what it said before", () => {
    for (const facts of everyFacts({})) {
      const verdict = reaperVerdict(facts, sightingOf("unanswered"), orphanKillMs);
      expect(verdict).toEqual({ advice: "wait", absent: "stays" });
    }
  });

  it("frees what can not be listed when the engine's own limit has ended it, and never without one", () => {
    const at = (expiredForMs: number, maxExecutionMs: number | undefined) =>
      verdictOf("unlisted", { expiredForMs, maxExecutionMs }).advice;
    expect(at(submissionMsMax + 30_000, 30_000)).toBe("freed");
    expect(at(submissionMsMax + 29_999, 30_000)).toBe("wait");
    expect(at(Number.MAX_SAFE_INTEGER, undefined)).toBe("wait");
  });

  it("frees what ran in the holder's process when that is known dead", () => {
    expect(verdictOf("inProcess", { holder: "dead" }).advice).toBe("freed");
    expect(verdictOf("inProcess", { holder: "alive", silentForMs: orphanKillMs }).advice).toBe(
      "wait",
    );
    expect(verdictOf("inProcess", { holder: "silent", silentForMs: orphanKillMs }).advice).toBe(
      "freed",
    );
    const short = { holder: "silent", silentForMs: orphanKillMs - 1 } as const;
    expect(verdictOf("inProcess", short).advice).toBe("wait");
  });

  it("never frees what the engine was just seen to run, and takes no verdict back with more time", () => {
    const time = fc.integer({ min: 0, max: 1_000_000 });
    const maybe = fc.option(time, { nil: undefined });
    const facts = fc.record({
      expiredForMs: time,
      holder: fc.constantFrom(...holders),
      silentForMs: time,
      maxExecutionMs: maybe,
      absentForMs: maybe,
      heardForMs: maybe,
      nowMs: fc.constant(nowMs),
    });
    const asked = fc.property(
      facts,
      fc.constantFrom(...sightings),
      time,
      fc.option(fc.integer({ min: nowMs - 1_000_000, max: nowMs + 1 }), { nil: undefined }),
      (known, seen, delayMs, listing) => {
        const sighting = { seen, delayMs, listing };
        const { advice, absent } = reaperVerdict(known, sighting, orphanKillMs);
        const later = { ...known, expiredForMs: known.expiredForMs + 1 };
        const after = reaperVerdict(later, sighting, orphanKillMs);
        const wasSeen = seen === "running" || seen === "ending";
        const early = known.expiredForMs < submissionMsMax;
        const broken = {
          freedThoughSeen: wasSeen && advice === "freed",
          absenceKept: wasSeen && absent !== "ends" && !early,
          endedTheLiving: advice === "end" && !isKnownDead(known, orphanKillMs),
          goesOnWithoutHolder: advice === "goesOn" && known.holder !== "alive",
          freedEarly: advice === "freed" && early,
          takenBack: advice === "freed" && after.advice !== "freed",
        };
        expect(Object.entries(broken).filter(([, is]) => is)).toEqual([]);
      },
    );
    fc.assert(asked, { numRuns: 500 });
  });
});

describe("isKnownDead", () => {
  it("takes a worker for dead by proof or by silence, and never one that spoke", () => {
    expect(isKnownDead({ holder: "dead", silentForMs: 0 }, orphanKillMs)).toBe(true);
    expect(isKnownDead({ holder: "silent", silentForMs: orphanKillMs }, orphanKillMs)).toBe(true);
    expect(isKnownDead({ holder: "silent", silentForMs: 0 }, orphanKillMs)).toBe(false);
    expect(isKnownDead({ holder: "alive", silentForMs: 1e9 }, orphanKillMs)).toBe(false);
  });
});

function verdictOf(seen: Sighting, facts: Partial<SuspectFacts>) {
  return reaperVerdict(factsOf(facts), sightingOf(seen), orphanKillMs);
}

/** Of a listing that was begun and heard of at the same moment. */
function sightingOf(seen: Sighting, delayMs = 0): ReaperSighting {
  return { seen, delayMs, listing: nowMs };
}

/** Every holder with and without a limit and an earlier absence. */
function everyFacts(facts: Partial<SuspectFacts>): readonly SuspectFacts[] {
  return holders.flatMap((holder) =>
    [undefined, 1_000].flatMap((maxExecutionMs) =>
      [undefined, 1_000_000].map((absentForMs) =>
        factsOf({ holder, maxExecutionMs, absentForMs, silentForMs: orphanKillMs, ...facts }),
      ),
    ),
  );
}

function factsOf(facts: Partial<SuspectFacts>): SuspectFacts {
  return {
    expiredForMs: submissionMsMax,
    holder: "silent",
    silentForMs: 0,
    maxExecutionMs: undefined,
    absentForMs: undefined,
    heardForMs: undefined,
    nowMs,
    ...facts,
  };
}
