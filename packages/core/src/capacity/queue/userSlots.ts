/**
 * How many queries of each user run in a group, and how many the group lets one user run. Counts only;
 * who waits is not its subject.
 *
 * The cap is what the most recently admitted query said it is.
 */

/**
 * So many users that run nothing may stay: one that comes and goes with every query makes the map anew every few queries,
 * and what was in it before stays in memory (`tool/members.ts`).
 */
const restingMax = 1_000;

interface Group {
  readonly name: string;
  cap: number;
  /** Running queries by user. */
  readonly running: Map<string, number>;
}

export class UserSlots {
  readonly #groups = new Map<string, Group>();
  /** That was looked up last: a query asks for its own several times. */
  #last: Group | undefined;

  /** Takes over the cap of the group. True when it changed. */
  hear(group: string, cap = Number.POSITIVE_INFINITY): boolean {
    const known = this.#group(group);
    const changed = known.cap !== cap;
    known.cap = cap;
    return changed;
  }

  /** Whether the group has a cap. */
  caps(group: string): boolean {
    return this.#group(group).cap !== Number.POSITIVE_INFINITY;
  }

  /** How many more the user may run; 0 also where a cap was lowered below what runs. */
  roomFor(group: string, user: string): number {
    const { cap, running } = this.#group(group);
    return Math.max(0, cap - (running.get(user) ?? 0));
  }

  take(group: string, user: string): void {
    const { running } = this.#group(group);
    running.set(user, (running.get(user) ?? 0) + 1);
  }

  /** Once per `take`. */
  give(group: string, user: string): void {
    const { running } = this.#group(group);
    const left = (running.get(user) ?? 0) - 1;
    if (left > 0 || running.size <= restingMax) running.set(user, left);
    else running.delete(user);
  }

  #group(name: string): Group {
    if (this.#last?.name === name) return this.#last;
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = { name, cap: Number.POSITIVE_INFINITY, running: new Map() };
      this.#groups.set(name, group);
    }
    this.#last = group;
    return group;
  }
}
