/** A search through every state of the model of leases: for one in which too much runs, and for one without a way to free slots. */
import { allRules, LeaseModel, type ModelRules, type ModelSize, type State } from "./leaseModel.ts";

export interface Explored {
  readonly states: number;
  /** Events that lead to more running at the engine than the cap. */
  readonly overrun: readonly string[] | undefined;
  /** Events that lead to where a slot is never free again. */
  readonly stuck: readonly string[] | undefined;
}

/** Visits every state that can be reached, and stops at the first overrun. */
export function explore(size: ModelSize, rules: ModelRules = allRules): Explored {
  const model = new LeaseModel(size, rules);
  const states: State[] = [model.first()];
  const known = new Map<string, number>([[keyOf(model.first()), 0]]);
  const parents: number[] = [-1];
  /** From, to, from, to: for the way back. */
  const edges: number[] = [];
  let overrun: readonly string[] | undefined;
  const path = (end: number): readonly string[] => pathTo(end, { model, states, parents });

  for (const [index, state] of states.entries()) {
    // It grows while it is walked through.
    if (overrun !== undefined) break;
    model.next(state, (_event, reached) => {
      const next = model.forgetting(reached);
      const key = keyOf(next);
      const seen = known.get(key);
      edges.push(index, seen ?? states.length);
      if (seen !== undefined) return;
      known.set(key, states.length);
      parents.push(index);
      states.push(next);
      if (overrun === undefined && model.overruns(next)) overrun = path(states.length - 1);
    });
  }
  const stuck = overrun === undefined ? stuckState(model, states, edges) : undefined;
  return { states: states.length, overrun, stuck: stuck === undefined ? undefined : path(stuck) };
}

/** The first state from which no way leads to where every slot is free: all others are found from there, backwards. */
function stuckState(
  model: LeaseModel,
  states: readonly State[],
  edges: readonly number[],
): number | undefined {
  // The edges into each state, as a list of the last one and of the one before each.
  const last = new Int32Array(states.length).fill(-1);
  const before = new Int32Array(edges.length / 2);
  for (let edge = 0; edge < before.length; edge += 1) {
    const to = edges[2 * edge + 1] ?? 0;
    before[edge] = last[to] ?? -1;
    last[to] = edge;
  }
  const reaches = new Uint8Array(states.length);
  const queue: number[] = [];
  const reach = (index: number): void => {
    if (reaches[index] === 1) return;
    reaches[index] = 1;
    queue.push(index);
  };
  for (const [index, state] of states.entries()) if (model.isFree(state)) reach(index);
  for (let index = queue.pop(); index !== undefined; index = queue.pop()) {
    for (let edge = last[index] ?? -1; edge >= 0; edge = before[edge] ?? -1) {
      reach(edges[2 * edge] ?? 0);
    }
  }
  const stuck = reaches.indexOf(0);
  return stuck < 0 ? undefined : stuck;
}

function pathTo(
  end: number,
  {
    model,
    states,
    parents,
  }: {
    readonly model: LeaseModel;
    readonly states: readonly State[];
    readonly parents: readonly number[];
  },
): readonly string[] {
  const events: string[] = [];
  for (let index = end; index > 0; index = parents[index] ?? 0) {
    const wanted = states[index];
    const from = states[parents[index] ?? 0];
    let found = "?";
    if (from !== undefined && wanted !== undefined) {
      model.next(from, (event, next) => {
        if (keyOf(model.forgetting(next)) === keyOf(wanted)) found = event;
      });
    }
    events.unshift(found);
  }
  return events;
}

function keyOf(state: State): string {
  return Buffer.from(state.buffer, state.byteOffset, state.length).toString("latin1");
}
