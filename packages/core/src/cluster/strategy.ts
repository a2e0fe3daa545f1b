/**
 * In which order the members of a group are offered a query.
 *
 * A strategy only orders: who may run at all is decided before (candidates.ts), who has room after
 * (capacity). Each query draws once when it is admitted and keeps its draw while it waits, so that
 * being asked a hundred times does not turn the wheel a hundred times.
 */
import type { StrategyConfig } from "@gateway/contract/config/group.ts";
import { unreachable } from "../result.ts";

/** A member as a strategy sees it. */
export interface StrategyMember {
  readonly cluster: string;
  /** Kind of its engine: `duckDb`, `trino`. */
  readonly engine: string;
}

/** Running queries on a cluster over all groups, for instance the capacity's. */
export type Load = (cluster: string) => number;

/** One query's order: the members that may run it now, best first. Holds exactly those it was given. */
export type Draw = <M extends StrategyMember>(usable: readonly M[], load: Load) => readonly M[];

export interface Strategy {
  draw(): Draw;
}

/** Makes a strategy with a wheel of its own; a new generation starts its wheels anew. */
export function strategyOf(config: StrategyConfig): Strategy {
  switch (config.type) {
    case "roundRobin":
    // Its order came with the query (candidates.ts); without one, and among those it does not name, members take turns.
    case "script":
      return turning((usable) => usable);
    case "leastLoaded":
      return turning((usable, load) =>
        usable.toSorted((a, b) => load(a.cluster) - load(b.cluster)),
      );
    case "failover":
      return { draw: () => (usable) => usable };
    case "engineAffinity": {
      const rank = rankBy(config.preference);
      return turning((usable) => usable.toSorted((a, b) => rank(a.engine) - rank(b.engine)));
    }
    case "weighted":
      return weighted(new Map(Object.entries(config.weights)));
    default:
      return unreachable(config);
  }
}

/** Turns the list by one more position per query, then orders it; the order must be stable, so that equals take turns. */
function turning(order: Draw): Strategy {
  let turn = 0;
  return {
    draw: () => {
      const turns = turn;
      turn = (turn + 1) % Number.MAX_SAFE_INTEGER;
      return (usable, load) => {
        const from = usable.length === 0 ? 0 : turns % usable.length;
        return order([...usable.slice(from), ...usable.slice(0, from)], load);
      };
    },
  };
}

function rankBy(preference: readonly string[]): (engine: string) => number {
  const ranks = new Map(preference.map((engine, index) => [engine, index]));
  return (engine) => ranks.get(engine) ?? preference.length;
}

/**
 * Smooth weighted turns: every member earns its weight per query, the richest is chosen and pays
 * what all earned. Weights 5, 1, 1 give a a b a c a a and not five times a in a row. Members without
 * a weight have 1. The others follow by what they have earned.
 */
function weighted(weights: ReadonlyMap<string, number>): Strategy {
  const earned = new Map<string, number>();
  const weightOf = (cluster: string) => weights.get(cluster) ?? 1;

  function choose(usable: readonly StrategyMember[]): string | undefined {
    let chosen: string | undefined;
    let total = 0;
    for (const { cluster } of usable) {
      total += weightOf(cluster);
      earned.set(cluster, (earned.get(cluster) ?? 0) + weightOf(cluster));
      if (weightOf(cluster) === 0) continue;
      if (chosen === undefined || (earned.get(cluster) ?? 0) > (earned.get(chosen) ?? 0))
        chosen = cluster;
    }
    if (chosen !== undefined) earned.set(chosen, (earned.get(chosen) ?? 0) - total);
    return chosen;
  }

  return {
    draw: () => {
      let chosen: string | undefined;
      return (usable) => {
        if (!usable.some(({ cluster }) => cluster === chosen)) chosen = choose(usable);
        const first = chosen;
        return usable.toSorted((a, b) => {
          if ((a.cluster === first) !== (b.cluster === first)) return a.cluster === first ? -1 : 1;
          const idle = Number(weightOf(a.cluster) === 0) - Number(weightOf(b.cluster) === 0);
          return idle || (earned.get(b.cluster) ?? 0) - (earned.get(a.cluster) ?? 0);
        });
      };
    },
  };
}

/** The members that `order` names first and in its order, the others as they were. */
export function inOrder<M extends StrategyMember>(
  members: readonly M[],
  order: readonly string[],
): readonly M[] {
  const ranks = new Map(order.map((cluster, index) => [cluster, index]));
  const rank = ({ cluster }: M): number => ranks.get(cluster) ?? order.length;
  return members.toSorted((a, b) => rank(a) - rank(b));
}
