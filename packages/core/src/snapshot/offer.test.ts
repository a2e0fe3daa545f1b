import { compareRevisions, type Revision } from "@gateway/contract/revision.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clockSkewMsMax, judgeOffer, refusalText, type OfferRefusal } from "./offer.ts";
import { offerSources, type Offer } from "../port/configSource.ts";

const nowMs = 1_767_225_600_000;
const limits = { copyAgeMsMax: 86_400_000, clockSkewMsMax };

describe("judgeOffer", () => {
  it("activates the first snapshot, and says that a copy is stale", () => {
    expect(judge({}, undefined)).toEqual({ kind: "activate", stale: false });
    expect(judge({ source: "peer" }, undefined)).toEqual({ kind: "activate", stale: true });
    expect(judge({ source: "disk" }, undefined)).toEqual({ kind: "activate", stale: true });
  });

  it("activates a higher position with other content", () => {
    const offered = revisionOf(3, { hash: "b" });
    expect(judge({ revision: offered }, revisionOf(2))).toEqual({ kind: "activate", stale: false });
  });

  it("takes only the position when the content is the same", () => {
    expect(judge({ revision: revisionOf(3) }, revisionOf(2)).kind).toBe("move");
  });

  it("lets the control plane confirm what runs", () => {
    expect(judge({}, revisionOf(2)).kind).toBe("confirm");
  });

  it.each(["peer", "disk"] as const)("does not let a %s confirm what runs", (source) => {
    expect(judge({ source }, revisionOf(2)).kind).toBe("keep");
  });

  it("refuses an older revision even though its mac is valid", () => {
    const active = revisionOf(3);
    const refusal = { code: "rollback", active, offered: revisionOf(2) };
    expect(judge({}, active)).toEqual({ kind: "refuse", refusal });
  });

  it("refuses other content at the same position as a fork", () => {
    const active = revisionOf(2, { hash: "b" });
    const refusal = { code: "fork", active, offered: revisionOf(2) };
    expect(judge({}, active)).toEqual({ kind: "refuse", refusal });
  });

  it("lets a restored log start its sequence again because the epoch grew", () => {
    const restored = { revision: revisionOf(1, { epoch: 2, hash: "b" }) };
    expect(judge(restored, revisionOf(9)).kind).toBe("activate");
  });

  it.each([0, 2, -1])("refuses schema version %d, which this build does not read", (version) => {
    const decision = judge({ schemaVersion: version }, undefined);
    expect(decision).toMatchObject({ refusal: { code: "schemaUnknown" } });
  });

  it("takes a copy up to its age limit and not a millisecond older", () => {
    const ageMs = limits.copyAgeMsMax;
    const old = (ms: number) => judge({ source: "peer", confirmedAtMs: nowMs - ms }, undefined);
    expect(old(ageMs).kind).toBe("activate");
    expect(old(ageMs + 1)).toEqual({
      kind: "refuse",
      refusal: { code: "copyTooOld", ageMs: ageMs + 1, ageMsMax: ageMs },
    });
  });

  it("refuses a copy that says it was confirmed more than a minute from now", () => {
    const ahead = (ms: number) => judge({ source: "disk", confirmedAtMs: nowMs + ms }, undefined);
    expect(ahead(clockSkewMsMax).kind).toBe("activate");
    expect(ahead(clockSkewMsMax + 1)).toMatchObject({ refusal: { code: "fromTheFuture" } });
  });

  it("does not judge the control plane by its clock", () => {
    for (const confirmedAtMs of [0, nowMs + 7_200_000]) {
      expect(judge({ confirmedAtMs }, undefined).kind).toBe("activate");
    }
  });

  it("never moves a worker backwards, whatever order offers arrive in", () => {
    fc.assert(
      fc.property(fc.array(anyOffer(), { maxLength: 40 }), (offers) => {
        const taken = takenBy(offers);
        expect(taken).toEqual(taken.toSorted(compareRevisions));
      }),
    );
  });

  it("never gives one position two contents", () => {
    fc.assert(
      fc.property(fc.array(anyOffer(), { maxLength: 40 }), (offers) => {
        const contents = new Map<string, string>();
        for (const { epoch, sequence, hash } of takenBy(offers)) {
          const position = `${epoch}.${sequence}`;
          expect(contents.get(position) ?? hash).toBe(hash);
          contents.set(position, hash);
        }
      }),
    );
  });
});

describe("refusalText", () => {
  it("says each refusal in words", () => {
    const active = revisionOf(3);
    const offered = revisionOf(2);
    const refusals: readonly OfferRefusal[] = [
      { code: "schemaUnknown", offered: 7, max: 1 },
      { code: "copyTooOld", ageMs: 9_000, ageMsMax: 5_000 },
      { code: "fromTheFuture", ageMs: -90_000 },
      { code: "rollback", active, offered },
      { code: "fork", active, offered },
    ];
    expect(new Set(refusals.map(refusalText)).size).toBe(refusals.length);
    expect(refusalText({ code: "rollback", active, offered })).toBe(
      "1.2 is older than the active 1.3",
    );
  });
});

/** Every revision that became the active one or its position, in order. */
function takenBy(offers: readonly Offer[]): readonly Revision[] {
  const taken: Revision[] = [];
  for (const offer of offers) {
    const { kind } = judgeOffer(offer, taken.at(-1), nowMs, limits);
    if (kind === "activate" || kind === "move") taken.push(offer.revision);
  }
  return taken;
}

function judge(more: Partial<Offer>, active: Revision | undefined) {
  return judgeOffer(offerOf(more), active, nowMs, limits);
}

function anyOffer(): fc.Arbitrary<Offer> {
  return fc.record({
    source: fc.constantFrom(...offerSources),
    schemaVersion: fc.constantFrom(1, 1, 1, 2),
    confirmedAtMs: fc.constantFrom(nowMs, nowMs - 1_000, nowMs - 100_000_000, nowMs + 100_000),
    revision: fc.record({
      epoch: fc.nat(3),
      sequence: fc.nat(9),
      hash: fc.constantFrom("a", "b"),
    }),
  });
}

function offerOf(more: Partial<Offer> = {}): Offer {
  return {
    source: "controlPlane",
    revision: revisionOf(2),
    schemaVersion: 1,
    confirmedAtMs: nowMs,
    ...more,
  };
}

function revisionOf(sequence: number, more: Partial<Revision> = {}): Revision {
  return { epoch: 1, sequence, hash: "a", ...more };
}
