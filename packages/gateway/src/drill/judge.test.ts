import { describe, expect, it } from "vitest";
import type { Asked, Evidence } from "./evidence.ts";
import { judge, type Finding } from "./judge.ts";

describe("judge", () => {
  it("holds what was seen to hold, and says what nobody looked at", () => {
    const findings = judge("engineKilled", evidenceOf({ records: undefined, cap: undefined }));
    expect(findings.map(({ invariant, kind }) => [invariant, kind])).toEqual([
      ["answers", "held"],
      ["records", "notJudged"],
      ["cap", "notJudged"],
      ["recovery", "held"],
    ]);
  });

  it.each([
    ["a wrong answer", { kind: "wrong" }, "violated"],
    ["an answer that never came", { kind: "hung" }, "violated"],
    ["a typed error during the fault", { kind: "typed" }, "held"],
    ["a cut during the fault", { kind: "cut" }, "violated"],
    ["a typed error before the fault", { kind: "typed", fromMs: 1, untilMs: 2 }, "violated"],
    ["a typed error after the recovery", { kind: "typed", fromMs: 61, untilMs: 62 }, "violated"],
  ] as const)("finds for %s that it is %s", (_what, more, wanted) => {
    const asked = [askedOf(more), askedOf()];
    expect(of("answers", judge("engineKilled", evidenceOf({ asked })))).toBe(wanted);
  });

  it("lets a worker that ends take its connections along, until the fleet is back", () => {
    const cut = (fromMs: number) => evidenceOf({ asked: [askedOf({ kind: "cut", fromMs })] });
    expect(of("answers", judge("workerRestart", cut(25)))).toBe("held");
    expect(of("answers", judge("workerRestart", cut(61)))).toBe("violated");
  });

  it.each([
    [{ missing: ["a"], counted: undefined }, "violated"],
    [{ missing: ["a", "b"], counted: 1 }, "violated"],
    [{ missing: ["a"], counted: 1 }, "held"],
    [{ missing: [], conflicts: 1 }, "violated"],
    [{ missing: [], wanted: 0 }, "notJudged"],
  ])("judges records %j as %s", (more, wanted) => {
    const records = { wanted: 9, counted: 0, conflicts: 0, ...more };
    expect(of("records", judge("engineKilled", evidenceOf({ records })))).toBe(wanted);
  });

  it.each([
    [{ most: 4 }, "held"],
    [{ most: 5 }, "violated"],
    [{ most: 0, looks: 0, failed: 7 }, "notJudged"],
  ])("judges a cap of 4 by what the engine ran, %j, as %s", (more, wanted) => {
    const cap = { cap: 4, looks: 10, failed: 0, ...more };
    expect(of("cap", judge("engineKilled", evidenceOf({ cap })))).toBe(wanted);
  });

  it("finds a fleet that does not come back", () => {
    const never = evidenceOf({ recoveredMs: undefined });
    expect(of("recovery", judge("slowEngine", never))).toBe("violated");
  });

  it.each([
    [{ refused: 9, answered: 0, other: 0 }, "held"],
    [{ refused: 9, answered: 1, other: 0 }, "violated"],
    [{ refused: 0, answered: 0, other: 9 }, "notJudged"],
    [undefined, "notJudged"],
  ])("judges a removed user who was seen as %j as %s", (revoked, wanted) => {
    expect(of("revoked", judge("userRevoked", evidenceOf({ revoked })))).toBe(wanted);
  });
});

function of(invariant: string, findings: readonly Finding[]) {
  return findings.find((finding) => finding.invariant === invariant)?.kind;
}

/** During the fault, which goes from 20 to 40; the recovery is at 60. */
function askedOf(more: Partial<Asked> = {}): Asked {
  const fromMs = more.fromMs ?? 25;
  const answer = { kind: "right", detail: "", queryId: "q" } as const;
  return { ...answer, client: 0, untilMs: fromMs + 5, ...more, fromMs };
}

function evidenceOf(more: Partial<Evidence> = {}): Evidence {
  return {
    asked: [askedOf()],
    fault: { fromMs: 20, undoneMs: 40 },
    recoveredMs: 60,
    records: { wanted: 1, missing: [], counted: undefined, conflicts: 0 },
    cap: { cap: 4, most: 4, looks: 10, failed: 0 },
    revoked: undefined,
    ...more,
  };
}
