/**
 * Leases as a state machine of a few bytes, searched from end to end: workers, a control plane, an
 * engine and whatever can become of the messages between them.
 *
 * What was sent may be delivered late, twice, in any order or never: a message stays deliverable for
 * ever. A frozen process is one that does nothing while everybody else goes on, a control plane that
 * restarts is one that does nothing for a while, and so is a slow reaper; so none of them needs a state.
 * Time is order: a lease is over for its worker before it is over for the control plane, and what was
 * written in its last moment has arrived, or never will, before the engine is asked.
 *
 * One thing is left out and said in the documentation: a process that freezes exactly between the look at its
 * lease and the writing of its statement, which is found at the engine's answer.
 */

export interface ModelRules {
  /** What ran out is free only when the engine does not run it. */
  readonly asksEngine: boolean;
  /** The engine is asked only when nothing written in time can still be on its way. */
  readonly waitsBeforeAsking: boolean;
  /** A release frees the lease that it names, and nothing else of its worker. */
  readonly matchesLease: boolean;
  /** An absence counts when two listings agree, further apart than a statement may take to show. */
  readonly looksTwice: boolean;
  /** What the network brings twice, of one listing, is no second listing. */
  readonly countsListings: boolean;
}

export const allRules: ModelRules = {
  asksEngine: true,
  waitsBeforeAsking: true,
  matchesLease: true,
  looksTwice: true,
  countsListings: true,
};

export interface ModelSize {
  readonly workers: number;
  readonly cap: number;
  /** Leases that are ever granted. */
  readonly leases: number;
  readonly renewals: number;
  /** Over all workers. */
  readonly kills: number;
}

/** What the engine knows of a lease's statement. */
const engine = { none: 0, onItsWay: 1, unseen: 2, shown: 3, over: 4 } as const;
const slot = { unused: 0, held: 1, suspect: 2, freed: 3 } as const;
const mode = { idle: 0, asking: 1, holding: 2, running: 3, dead: 4 } as const;

/** Bytes of a lease, and of a worker. */
const lease = {
  state: 0,
  worker: 1,
  life: 2,
  epoch: 3,
  /** Epochs that are over by the worker's clock. */
  over: 4,
  absent: 5,
  releaseSent: 6,
  renewSent: 7,
  engine: 8,
  size: 9,
} as const;
const worker = {
  mode: 0,
  life: 1,
  lease: 2,
  /** The newest epoch it has heard of. */
  knows: 3,
  /** A question of an earlier life that may still arrive. */
  stray: 4,
  size: 5,
} as const;

/** Of a lease that is freed and whose statement is over. */
const forgotten = [
  lease.life,
  lease.epoch,
  lease.over,
  lease.absent,
  lease.renewSent,
  lease.engine,
] as const;

/** Leases, then workers, then the number of kills; see `lease` and `worker`. */
export type State = Uint8Array;
type Visit = (event: string, next: State) => void;

/** The machine: which states follow on one, and what must hold in each. */
export class LeaseModel {
  readonly #size: ModelSize;
  readonly #rules: ModelRules;
  readonly #workersAt: number;
  readonly #killsAt: number;

  constructor(size: ModelSize, rules: ModelRules) {
    this.#size = size;
    this.#rules = rules;
    this.#workersAt = size.leases * lease.size;
    this.#killsAt = this.#workersAt + size.workers * worker.size;
  }

  first(): State {
    return new Uint8Array(this.#killsAt + 1);
  }

  /** More runs at the engine than may. */
  overruns(state: State): boolean {
    let running = 0;
    for (let id = 0; id < this.#size.leases; id += 1) {
      const at = state[id * lease.size + lease.engine];
      if (at === engine.unseen || at === engine.shown) running += 1;
    }
    return running > this.#size.cap;
  }

  isFree(state: State): boolean {
    return this.#taken(state) === 0;
  }

  /** The same for all that follows: what nobody will ever look at again is the same in all states. */
  forgetting(state: State): State {
    for (let id = 0; id < this.#size.leases; id += 1) {
      const at = id * lease.size;
      const runs = state[at + lease.engine];
      const over = runs === engine.none || runs === engine.over;
      if (state[at + lease.state] !== slot.freed || !over || this.#isNamed(state, id)) continue;
      for (const field of forgotten) state[at + field] = 0;
      if (this.#rules.matchesLease || state[at + lease.releaseSent] === 0) {
        for (const field of [lease.worker, lease.releaseSent]) state[at + field] = 0;
      }
    }
    return state;
  }

  #isNamed(state: State, id: number): boolean {
    for (let who = 0; who < this.#size.workers; who += 1) {
      if (state[this.#workersAt + who * worker.size + worker.lease] === id + 1) return true;
    }
    return false;
  }

  next(state: State, visit: Visit): void {
    for (let id = 0; id < this.#size.leases; id += 1) {
      if (state[id * lease.size + lease.state] === slot.unused) break;
      this.#ofLease(state, id, visit);
      this.#ofEngine(state, id, visit);
      this.#ofReaper(state, id, visit);
    }
    for (let who = 0; who < this.#size.workers; who += 1) this.#ofWorker(state, who, visit);
  }

  #taken(state: State): number {
    let taken = 0;
    for (let id = 0; id < this.#size.leases; id += 1) {
      const at = state[id * lease.size + lease.state];
      if (at === slot.held || at === slot.suspect) taken += 1;
    }
    return taken;
  }

  #isTaken(state: State, id: number): boolean {
    const at = state[id * lease.size + lease.state];
    return at === slot.held || at === slot.suspect;
  }

  /** Time, and what the control plane does with messages about a lease. */
  #ofLease(state: State, id: number, visit: Visit): void {
    const at = id * lease.size;
    const get = (field: number): number => state[at + field] ?? 0;
    if (!this.#isTaken(state, id)) return;
    if (get(lease.over) <= get(lease.epoch)) {
      visit(
        `lease ${id}: its time is over for its worker`,
        put(state, [at + lease.over, get(lease.over) + 1]),
      );
    }
    const over = get(lease.over) > get(lease.epoch);
    const who = this.#workersAt + get(lease.worker) * worker.size;
    const succeeded = (state[who + worker.life] ?? 0) > get(lease.life);
    if (get(lease.state) === slot.held && (over || succeeded)) {
      visit(
        `lease ${id}: ${over ? "ran out" : "its worker was succeeded"}`,
        put(state, [at + lease.state, this.#rules.asksEngine ? slot.suspect : slot.freed]),
      );
    }
    if (get(lease.renewSent) === 1 && get(lease.epoch) < this.#size.renewals) {
      visit(
        `lease ${id}: a renewal arrives`,
        put(
          state,
          [at + lease.state, slot.held],
          [at + lease.epoch, get(lease.epoch) + 1],
          [at + lease.absent, 0],
        ),
      );
    }
    if (get(lease.releaseSent) === 1) {
      visit(`lease ${id}: its release arrives`, put(state, [at + lease.state, slot.freed]));
    }
    if (this.#rules.matchesLease) return;
    for (let other = 0; other < this.#size.leases; other += 1) {
      const sent = state[other * lease.size + lease.releaseSent] === 1;
      const same = state[other * lease.size + lease.worker] === get(lease.worker);
      if (other === id || !sent || !same) continue;
      visit(
        `lease ${id}: the release of lease ${other} frees it`,
        put(state, [at + lease.state, slot.freed]),
      );
    }
  }

  #ofEngine(state: State, id: number, visit: Visit): void {
    const at = id * lease.size + lease.engine;
    switch (state[at]) {
      case engine.onItsWay:
        visit(`lease ${id}: its statement arrives`, put(state, [at, engine.unseen]));
        visit(`lease ${id}: its statement is lost`, put(state, [at, engine.over]));
        return;
      case engine.unseen:
        visit(`lease ${id}: its statement shows`, put(state, [at, engine.shown]));
        visit(`lease ${id}: its statement ends`, put(state, [at, engine.over]));
        return;
      case engine.shown:
        visit(`lease ${id}: its statement ends`, put(state, [at, engine.over]));
        return;
      case undefined:
      case engine.none:
      case engine.over:
    }
  }

  #ofReaper(state: State, id: number, visit: Visit): void {
    const at = id * lease.size;
    if (state[at + lease.state] !== slot.suspect) return;
    const runs = state[at + lease.engine];
    if (this.#rules.waitsBeforeAsking && runs === engine.onItsWay) return;
    if (runs === engine.shown) {
      if (state[at + lease.absent] === 1) {
        visit(`lease ${id}: the engine shows it`, put(state, [at + lease.absent, 0]));
      }
      visit(
        `lease ${id}: the reaper ends it`,
        put(state, [at + lease.engine, engine.over], [at + lease.absent, 0]),
      );
      return;
    }
    if (this.#rules.looksTwice && state[at + lease.absent] === 0) {
      visit(`lease ${id}: the engine does not show it`, put(state, [at + lease.absent, 1]));
      return;
    }
    // The second listing lies further from the first than a statement takes to show.
    if (this.#rules.looksTwice && this.#rules.countsListings && runs === engine.unseen) return;
    visit(`lease ${id}: freed by the reaper`, put(state, [at + lease.state, slot.freed]));
  }

  #ofWorker(state: State, who: number, visit: Visit): void {
    const at = this.#workersAt + who * worker.size;
    const get = (field: number): number => state[at + field] ?? 0;
    const kills = state[this.#killsAt] ?? 0;
    if (get(worker.stray) === 1) this.#grant(state, who, { stray: true, visit });
    if (get(worker.mode) === mode.dead) {
      visit(
        `worker ${who}: restarts`,
        put(state, [at + worker.mode, mode.idle], [at + worker.life, get(worker.life) + 1]),
      );
      return;
    }
    if (kills < this.#size.kills) {
      const strays =
        get(worker.mode) === mode.asking && get(worker.lease) === 0 ? 1 : get(worker.stray);
      visit(
        `worker ${who}: is killed`,
        put(
          state,
          [at + worker.mode, mode.dead],
          [at + worker.lease, 0],
          [at + worker.knows, 0],
          [at + worker.stray, strays],
          [this.#killsAt, kills + 1],
        ),
      );
    }
    switch (get(worker.mode)) {
      case mode.idle:
        visit(
          `worker ${who}: asks`,
          put(state, [at + worker.mode, mode.asking], [at + worker.lease, 0]),
        );
        return;
      case mode.asking:
        this.#ofAsking(state, who, visit);
        return;
      default:
        this.#ofHolder(state, who, visit);
    }
  }

  /** `lease` is the number of the granted one from 1, 0 before the grant. */
  #ofAsking(state: State, who: number, visit: Visit): void {
    const at = this.#workersAt + who * worker.size;
    const granted = (state[at + worker.lease] ?? 0) - 1;
    if (granted < 0) {
      this.#grant(state, who, { stray: false, visit });
      return;
    }
    visit(`worker ${who}: hears of lease ${granted}`, put(state, [at + worker.mode, mode.holding]));
    visit(
      `worker ${who}: gives up before it hears of lease ${granted}`,
      put(state, [at + worker.mode, mode.idle], [at + worker.lease, 0]),
    );
  }

  #grant(
    state: State,
    who: number,
    { stray, visit }: { readonly stray: boolean; readonly visit: Visit },
  ): void {
    if (this.#taken(state) >= this.#size.cap) return;
    let id = 0;
    while (id < this.#size.leases && state[id * lease.size + lease.state] !== slot.unused) id += 1;
    if (id === this.#size.leases) return;
    const at = this.#workersAt + who * worker.size;
    const life = (state[at + worker.life] ?? 0) - (stray && state[at] !== mode.dead ? 1 : 0);
    const granted = put(
      state,
      [id * lease.size + lease.state, slot.held],
      [id * lease.size + lease.worker, who],
      [id * lease.size + lease.life, life],
    );
    if (stray) granted[at + worker.stray] = 0;
    else granted[at + worker.lease] = id + 1;
    visit(`worker ${who}: is granted lease ${id}${stray ? " for an earlier life" : ""}`, granted);
  }

  #ofHolder(state: State, who: number, visit: Visit): void {
    const at = this.#workersAt + who * worker.size;
    const get = (field: number): number => state[at + field] ?? 0;
    const id = get(worker.lease) - 1;
    const held = id * lease.size;
    const of = (field: number): number => state[held + field] ?? 0;
    const toIdle = [
      [at + worker.mode, mode.idle],
      [at + worker.lease, 0],
      [at + worker.knows, 0],
    ] as const;
    const runs = get(worker.mode) === mode.running;
    if (!runs && get(worker.knows) >= of(lease.over)) {
      visit(
        `worker ${who}: writes its statement under lease ${id}`,
        put(state, [at + worker.mode, mode.running], [held + lease.engine, engine.onItsWay]),
      );
    }
    if (!runs || of(lease.engine) === engine.over) {
      visit(
        `worker ${who}: releases lease ${id}`,
        put(state, [held + lease.releaseSent, 1], ...toIdle),
      );
    }
    if (of(lease.renewSent) === 0) {
      visit(`worker ${who}: renews lease ${id}`, put(state, [held + lease.renewSent, 1]));
      return;
    }
    if (this.#isTaken(state, id) && get(worker.knows) < of(lease.epoch)) {
      visit(
        `worker ${who}: hears that lease ${id} is renewed`,
        put(state, [at + worker.knows, of(lease.epoch)]),
      );
    }
    if (this.#isTaken(state, id)) return;
    const ends = of(lease.engine) === engine.unseen || of(lease.engine) === engine.shown;
    visit(
      `worker ${who}: hears that lease ${id} is lost, and ends its statement`,
      put(state, ...toIdle, [held + lease.engine, ends ? engine.over : of(lease.engine)]),
    );
  }
}

function put(state: State, ...changes: readonly (readonly [number, number])[]): State {
  const next = state.slice();
  for (const [at, value] of changes) next[at] = value;
  return next;
}
