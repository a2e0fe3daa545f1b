import { sightings, type Sighting } from "@gateway/contract/capacityApi.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isKnownDead,
  mayBeAsked,
  reaperVerdict,
  submissionMsMax,
  type SuspectFacts,
} from "./reaperCases.ts";

const orphanKillMs = 60_000;
const holders = ["alive", "dead", "silent"] as const;

describe("reaperVerdict", () => {
  it("concludes nothing sooner than ten seconds after the expiry, whatever was seen", () => {
    for (const facts of everyFacts({ expiredForMs: submissionMsMax - 1 })) {
      for (const seen of sightings) {
        expect(reaperVerdict(facts, { seen, delayMs: 0 }, orphanKillMs)).toEqual({
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
      reaperVerdict(factsOf({ absentForMs }), { seen: "absent", delayMs }, orphanKillMs);
    expect(advice(0, 0)).toEqual({ advice: "wait", absent: "stays" });
    expect(advice(1, 0)).toEqual({ advice: "freed", absent: "stays" });
    expect(advice(5_000, 5_000).advice).toBe("wait");
    expect(advice(5_001, 5_000).advice).toBe("freed");
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
      const verdict = reaperVerdict(facts, { seen: "ending", delayMs: 0 }, orphanKillMs);
      expect(verdict).toEqual({ advice: "wait", absent: "ends" });
    }
  });

  it("waits when the engine does not answer, and keeps what it said before", () => {
    for (const facts of everyFacts({})) {
      const verdict = reaperVerdict(facts, { seen: "unanswered", delayMs: 0 }, orphanKillMs);
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
    });
    const asked = fc.property(
      facts,
      fc.constantFrom(...sightings),
      time,
      (known, seen, delayMs) => {
        const { advice, absent } = reaperVerdict(known, { seen, delayMs }, orphanKillMs);
        const later = { ...known, expiredForMs: known.expiredForMs + 1 };
        const after = reaperVerdict(later, { seen, delayMs }, orphanKillMs);
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
  return reaperVerdict(factsOf(facts), { seen, delayMs: 0 }, orphanKillMs);
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
    ...facts,
  };
}
