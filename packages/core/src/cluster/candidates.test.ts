import { describe, expect, it } from "vitest";
import { candidateSource, type CandidateSource, type GroupMember } from "./candidates.ts";
import { strategyOf } from "./strategy.ts";

const idle = () => 0;

describe("candidateSource", () => {
  it("offers members with both caps, in the order of the strategy", () => {
    const { candidates } = sourceOf([memberOf("a", { clusterCap: 7 }), memberOf("b")]);
    expect(candidates(idle)).toEqual([
      { cluster: "a", clusterCap: 7, groupCap: 4 },
      { cluster: "b", clusterCap: undefined, groupCap: 4 },
    ]);
  });

  it("leaves out members that are ejected or whose breaker is open, as long as they are", () => {
    let usable = false;
    const { candidates } = sourceOf([
      memberOf("ejected", { usable: () => usable }),
      memberOf("open", { runningMax: () => 0 }),
    ]);
    expect(candidates(idle)).toEqual([]);
    usable = true;
    expect(candidates(idle).map(({ cluster }) => cluster)).toEqual(["ejected"]);
  });

  it("narrows the cap while a breaker tries", () => {
    const { candidates } = sourceOf([memberOf("a", { runningMax: () => 1 })]);
    expect(candidates(idle)).toEqual([{ cluster: "a", clusterCap: undefined, groupCap: 1 }]);
  });

  it("leaves out what the query could not reach, and says when nothing is left", () => {
    const group = groupOf([memberOf("a"), memberOf("b")]);
    const { candidates } = some(candidateSource(group, new Set(["a"])));
    expect(candidates(idle).map(({ cluster }) => cluster)).toEqual(["b"]);
    expect(candidateSource(group, new Set(["a", "b"]))).toEqual({ kind: "none" });
  });

  it("draws one turn of the strategy per admission", () => {
    const group = {
      ...groupOf([memberOf("a"), memberOf("b")]),
      strategy: strategyOf({ type: "roundRobin" }),
    };
    const sources = [1, 2, 3].map(() => some(candidateSource(group, new Set())));
    const firsts = sources.map(({ candidates }) => candidates(idle)[0]?.cluster);
    expect(sources.map(({ candidates }) => candidates(idle)[0]?.cluster)).toEqual(firsts);
    expect(firsts).toEqual(["a", "b", "a"]);
  });
});

function memberOf(cluster: string, member: Partial<GroupMember> = {}): GroupMember {
  return {
    cluster,
    engine: "duckDb",
    clusterCap: undefined,
    usable: () => true,
    runningMax: () => Number.POSITIVE_INFINITY,
    ...member,
  };
}

function groupOf(members: readonly GroupMember[]) {
  return { members, maxRunning: 4, strategy: strategyOf({ type: "failover" }) };
}

function sourceOf(members: readonly GroupMember[]) {
  return some(candidateSource(groupOf(members), new Set()));
}

function some(source: CandidateSource) {
  if (source.kind === "none") throw new Error("no candidates");
  return source;
}
