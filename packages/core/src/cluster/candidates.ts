/**
 * The members of a group that may run a query now: from health, breakers and strategy to what the
 * capacity asks for.
 */
import type { AdmitRequest, Candidate } from "../port/capacity.ts";
import { inOrder, type Strategy, type StrategyMember } from "./strategy.ts";

/** A member of a group, opened. */
export interface GroupMember extends StrategyMember {
  /** Cap of the cluster over all groups; undefined means none. Config: `clusters.<c>.maxRunningQueries`. */
  readonly clusterCap: number | undefined;
  /** Health: `watch.usable()`. */
  usable(): boolean;
  /** Breaker: `breaker.runningMax()`, Infinity without one. */
  runningMax(): number;
}

/** What a group needs to offer its members. */
export interface GroupMembers {
  /** Enabled members in the order of the config. */
  readonly members: readonly GroupMember[];
  /** Config: `clusterGroups.<g>.maxRunningQueries`. */
  readonly maxRunning: number;
  readonly strategy: Strategy;
}

/** The result of asking a group for candidates. */
export type CandidateSource =
  /** Every member is excluded, or there is none: waiting changes nothing. The answer is `cluster.unavailable`. */
  | { readonly kind: "none" }
  | { readonly kind: "some"; readonly candidates: AdmitRequest["candidates"] };

/**
 * Makes `AdmitRequest.candidates` for one admission of one query and draws its turn of the strategy.
 * `excluded` holds the clusters that this query already failed to reach; `order` those that a
 * script put first.
 */
export function candidateSource(
  group: GroupMembers,
  excluded: ReadonlySet<string>,
  order?: readonly string[],
): CandidateSource {
  const sole = group.members.length === 1 ? group.members[0] : undefined;
  if (sole !== undefined) return soleSource(sole, group.maxRunning, excluded);
  const members = group.members.filter(({ cluster }) => !excluded.has(cluster));
  if (members.length === 0) return { kind: "none" };
  const draw = group.strategy.draw();
  const candidates: AdmitRequest["candidates"] = (load) => {
    const usable = members.filter((member) => member.usable() && member.runningMax() > 0);
    const drawn = draw(usable, load);
    const ordered = order === undefined ? drawn : inOrder(drawn, order);
    return ordered.map((member) => candidateOf(member, group.maxRunning));
  };
  return { kind: "some", candidates };
}

/** Most groups have one member: there is no order, and nothing is drawn. */
function soleSource(
  member: GroupMember,
  maxRunning: number,
  excluded: ReadonlySet<string>,
): CandidateSource {
  if (excluded.has(member.cluster)) return { kind: "none" };
  const candidates: AdmitRequest["candidates"] = () =>
    member.usable() && member.runningMax() > 0 ? [candidateOf(member, maxRunning)] : [];
  return { kind: "some", candidates };
}

function candidateOf(member: GroupMember, maxRunning: number): Candidate {
  const { cluster, clusterCap } = member;
  return { cluster, clusterCap, groupCap: Math.min(maxRunning, member.runningMax()) };
}
