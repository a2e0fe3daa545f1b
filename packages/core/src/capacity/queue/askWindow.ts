/**
 * Chooses the waiting queries for which the control plane is asked at the same time. It asks nothing itself.
 *
 * Each group has a window: so many of its queries are asked for, and the others wait for their turn here. Where
 * the group limits each user, a user fills at most as much of the window as it may run queries. Its other queries
 * stand back and leave the window to other users. A query whose user already runs all it may elsewhere does not
 * count in the window either.
 */
import { boundUserOf, type Waiter } from "./waiter.ts";

/** Waiting queries of one group that are asked for at the same time. */
export const askedPerGroupMax = 64;
/** In addition: waiting queries whose users already run all they may; each is asked for in a call of its own. */
const asidePerGroupMax = 1_000;

interface Group {
  asked: number;
  /** Asked for, but not counted in the window. */
  readonly aside: Set<Waiter>;
  readonly users: Map<string, Own>;
}

/** Of one user with a limit. */
interface Own {
  asked: number;
  /** By age. */
  readonly back: Set<Waiter>;
}

export class AskWindow {
  readonly #groups = new Map<string, Group>();

  /** Whether one more of the group may be asked for. */
  hasRoom(group: string): boolean {
    return this.#group(group).asked < askedPerGroupMax;
  }

  /** Counts the query in. False when the query has to stand back, until `end` names it. */
  take(waiter: Waiter): boolean {
    const group = this.#group(waiter.request.group);
    const user = boundUserOf(waiter.request);
    const { maxRunningPerUser = Number.POSITIVE_INFINITY } = waiter.request;
    if (user !== undefined) {
      const own = group.users.get(user) ?? { asked: 0, back: new Set() };
      group.users.set(user, own);
      if (own.asked >= maxRunningPerUser) {
        own.back.add(waiter);
        return false;
      }
      own.asked += 1;
    }
    group.asked += 1;
    return true;
  }

  /** Notes whether the query's user already runs all it may. True when that makes room in the window. */
  heard(waiter: Waiter, userFull: boolean): boolean {
    const group = this.#group(waiter.request.group);
    if (userFull === group.aside.has(waiter)) return false;
    if (!userFull) {
      group.aside.delete(waiter);
      group.asked += 1;
      return false;
    }
    if (group.aside.size >= asidePerGroupMax) return false;
    group.aside.add(waiter);
    group.asked -= 1;
    return true;
  }

  /** The query is no longer asked for. Returns one that stood back and may now be asked for. */
  end(waiter: Waiter): Waiter | undefined {
    const { group: name } = waiter.request;
    const group = this.#group(name);
    if (!group.aside.delete(waiter)) group.asked -= 1;
    const user = boundUserOf(waiter.request);
    const own = user === undefined ? undefined : group.users.get(user);
    if (user === undefined || own === undefined) return undefined;
    own.asked -= 1;
    const [next] = own.back;
    if (next !== undefined) own.back.delete(next);
    else if (own.asked === 0) group.users.delete(user);
    return next;
  }

  /** A query no longer waits. */
  left(waiter: Waiter): void {
    const user = boundUserOf(waiter.request);
    if (user !== undefined) this.#group(waiter.request.group).users.get(user)?.back.delete(waiter);
  }

  #group(name: string): Group {
    const present = this.#groups.get(name);
    if (present !== undefined) return present;
    const group: Group = { asked: 0, aside: new Set(), users: new Map() };
    this.#groups.set(name, group);
    return group;
  }
}
