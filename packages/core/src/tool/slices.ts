/**
 * Runs long work of all clients on the one thread that serves everybody: one slice at a time, and between
 * two slices the event loop serves whoever came meanwhile.
 *
 * Users take turns, slice by slice, so that no user's long texts hold up another's.
 */
import type { SlicedWork, Slices } from "../port/host.ts";

export interface SlicesParts {
  /** Resolves when the loop served others. */
  readonly othersServed: () => Promise<void>;
  /** Resolves after a moment in which the thread has nothing to do but to serve others: a millisecond or so. */
  readonly rested: () => Promise<void>;
  readonly nowMs: () => number;
}

/** Milliseconds of one slice: it ends with the step in which they are over. */
const sliceMs = 0.5;

/** A turn of the event loop that takes longer served somebody. */
const servedMs = 0.05;

/**
 * So long after somebody was served a slice is a single step: a query comes back to this thread some ten times, from
 * its client and from its engine, and each time would wait for half a slice. Longer than a query takes, so that a client
 * who asks one after the other finds each of its trips so.
 */
const besideMs = 20;

/**
 * Work beside others, after which the thread rests. Without a rest one sender of bad texts keeps it busy for good: a
 * query that comes back to it then waits for its processor as well, behind a thread that has used all of its time.
 */
const untilRestMs = 0.5;

interface Job {
  readonly client: { readonly over: boolean };
  /** One step. True when there is none left. */
  step(): boolean;
  /** Ends the work early, or with what a step threw. */
  end(thrown?: unknown): void;
}

export function slicesOf({ othersServed, rested, nowMs }: SlicesParts): Slices {
  /** Work by user, in the order of their next turns. */
  const users = new Map<string, Job[]>();
  let working = false;

  function slice(job: Job, forMs: number): boolean {
    const endMs = nowMs() + forMs;
    try {
      do {
        if (job.client.over) {
          job.end();
          return true;
        }
        if (job.step()) return true;
      } while (nowMs() < endMs);
    } catch (thrown) {
      job.end(thrown);
      return true;
    }
    return false;
  }

  async function workOff(): Promise<void> {
    working = true;
    let besideUntilMs = Number.NEGATIVE_INFINITY;
    /** Milliseconds of work since the last rest. */
    let workedMs = 0;
    for (let [first] = users; first !== undefined; [first] = users) {
      const [user, jobs] = first;
      const [job] = jobs;
      users.delete(user);
      const startMs = nowMs();
      const forMs = startMs < besideUntilMs ? 0 : sliceMs;
      if (job !== undefined && slice(job, forMs)) jobs.shift();
      if (jobs.length > 0) users.set(user, jobs);
      const fromMs = nowMs();
      await othersServed();
      const toMs = nowMs();
      if (toMs - fromMs > servedMs) besideUntilMs = toMs + besideMs;
      workedMs += fromMs - startMs;
      if (workedMs < untilRestMs) continue;
      workedMs = 0;
      if (toMs < besideUntilMs) await rested();
    }
    working = false;
  }

  return {
    run: (work) =>
      new Promise((resolve, reject) => {
        const job = jobOf(work, resolve, reject);
        const jobs = users.get(work.user);
        if (jobs === undefined) users.set(work.user, [job]);
        else jobs.push(job);
        if (!working) void workOff();
      }),
  };
}

function jobOf<Found>(
  { steps, client }: SlicedWork<Found>,
  resolve: (found: Found | undefined) => void,
  reject: (thrown: unknown) => void,
): Job {
  return {
    client,
    step: () => {
      const step = steps.next();
      if (step.done === true) resolve(step.value);
      return step.done === true;
    },
    end: (thrown) => {
      if (thrown === undefined) resolve(undefined);
      else reject(thrown);
    },
  };
}
