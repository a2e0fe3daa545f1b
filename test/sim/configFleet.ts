/**
 * A fleet on a virtual clock: a real control plane, five workers and their clients, and a network that
 * cuts, stalls, damages and repeats. Everything from one seed. It keeps its own books of what clients
 * saw and what arrived; what must hold over them is judged by brokenIn.
 */
import { currentSecret, testControl } from "@gateway/control/worker/rig/control.ts";
import { compareRevisions, type Revision } from "@gateway/contract/revision.ts";
import { recordedMetrics } from "@gateway/core/rig/recorder.ts";
import { seededRandom, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { Generations, type Generation } from "@gateway/core/snapshot/generation.ts";
import { newLife, takenOf } from "@gateway/core/snapshot/lifecycle.ts";
import {
  followControlPlane,
  type WorkerConfig,
} from "@gateway/gateway/worker/snapshot/followConfig.ts";
import { reportOf } from "@gateway/gateway/worker/status.ts";
import { overApp, silence, type Answering } from "@gateway/gateway/worker/rig/link.ts";
import type { WireAnswer } from "@gateway/gateway/worker/link/transport.ts";
import { SimHistory, type Passage } from "./history.ts";

/**
 * Bugs that can be planted, by the invariant that each breaks. Who forgets its revision believes a replica that is behind,
 * as whose answers the network replays old ones.
 */
export type Planted =
  | "I1 counts nothing ahead"
  | "I1 takes a repeated batch for sent"
  | "I3 invents a record"
  | "I6 forgets its revision"
  | "I7 closes at once"
  | "I7 reads what is active";

const workerCount = 5;
const clientsPerWorker = 2;
const edits = 3;
const editMsMax = 15_000;
const idleMsMax = 4_000;
const runMsMax = 8_000;
/** The longest pause is a minute, and a silent wait holds for forty seconds. */
const quietMsMax = 150_000;
const restMs = 5_000;

const secret = new Secret(currentSecret);
type Fault = "none" | "cut" | "silent" | "damage" | "truncate" | "replay";
const others = ["none", "none", "cut", "silent", "damage", "truncate"] as const;
/** An old answer is what would lead a worker back, so these come more often. */
const faults: readonly Fault[] = [...others, "replay", "replay", "replay"];

/** What one worker did, by the books of the simulation. */
export interface WorkerBooks {
  /** What it ran under, in order. */
  readonly positions: Revision[];
  /** Hashes of what it opened. */
  readonly contents: string[];
  /** Queries that were begun, and those whose client saw their end. */
  readonly sent: Set<string>;
  readonly complete: Set<string>;
  /** Revisions that a query saw, first and last, and whether its generation was closed underneath. */
  readonly queries: { readonly first: string; readonly last: string; readonly closed: boolean }[];
  readonly trace: string[];
  kills: number;
  gaps: number;
}

export interface FleetRun {
  readonly workers: readonly (WorkerBooks & {
    readonly arrived: ReadonlySet<string>;
    readonly queued: number;
    readonly dropped: number;
  })[];
  readonly written: ReadonlySet<string>;
  readonly last: string;
  readonly trace: readonly string[];
  readonly bugs: readonly unknown[];
  readonly secretShown: boolean;
}

/** Plays a fleet out. The same seed gives the same trace. */
export async function runFleet(seed: number, planted?: Planted): Promise<FleetRun> {
  const random = seededRandom(seed);
  const control = await testControl();
  const { host } = control;
  const written = new Set<string>();
  let last = "";
  const commit = async (name: string): Promise<void> => {
    await control.commit(name);
    last = control.deps.config.current()?.revision.hash ?? "";
    written.add(last);
  };
  await commit("first");
  const network = { fault: (): Fault => "none" };
  const parts = { host, random, network, planted, app: control.app };
  const workers = Array.from({ length: workerCount }, (_, index) => new SimWorker(index, parts));
  await Promise.all(workers.map((worker) => worker.start()));
  network.fault = () => faults[Math.floor(random() * faults.length)] ?? "none";
  for (let edit = 0; edit < edits; edit += 1) {
    await host.advance(Math.floor(random() * editMsMax));
    await commit(`cluster-${edit}`);
    const unlucky = workers[Math.floor(random() * workerCount)];
    await host.advance(Math.floor(random() * 2_000));
    // Opening the folder again takes its time.
    const killed = unlucky?.kill();
    await host.advance(1_000);
    await killed;
  }
  network.fault = () => "none";
  for (const worker of workers) worker.calm();
  // Most come to rest long before.
  for (let passedMs = 0; passedMs < quietMsMax; passedMs += restMs) {
    await host.advance(restMs);
    if (workers.every((worker) => worker.isAtRest(last))) break;
  }
  const done = workers.map((worker) => worker.result());
  control.stop();
  const ended = Promise.all(workers.map((worker) => worker.stop()));
  await host.advance(1_000);
  await ended;
  return {
    workers: done,
    written,
    last,
    trace: done.flatMap(({ trace }) => trace),
    bugs: host.log.bugs,
    secretShown: JSON.stringify(host.log.lines).includes(currentSecret),
  };
}

/** Every invariant that does not hold, by its name. */
export function brokenIn(run: FleetRun): readonly string[] {
  const broken = new Set<string>();
  for (const worker of run.workers) {
    const { sent, complete, arrived, positions, contents, queries } = worker;
    const without = [...sent].filter((id) => !arrived.has(id));
    if (without.length !== worker.dropped || worker.queued > 0) broken.add("I1");
    if ([...complete].some((id) => !sent.has(id))) broken.add("I1");
    if ([...arrived].some((id) => !sent.has(id))) broken.add("I3");
    const ordered = positions.toSorted(compareRevisions);
    if (ordered.some((revision, index) => revision !== positions[index])) broken.add("I6");
    if (queries.some(({ first, last, closed }) => closed || first !== last)) broken.add("I7");
    if (contents.some((hash) => !run.written.has(hash))) broken.add("unwritten");
    if (worker.gaps > 0) broken.add("gap");
    if (positions.at(-1)?.hash !== run.last) broken.add("not agreed");
  }
  if (run.bugs.length > 0) broken.add("bug");
  if (run.secretShown) broken.add("I8");
  return [...broken].toSorted();
}

interface SimParts {
  readonly host: VirtualHost;
  readonly random: () => number;
  readonly network: { fault(): Fault };
  readonly planted: Planted | undefined;
  readonly app: { fetch(request: Request): Response | Promise<Response> };
}

class SimWorker {
  readonly #parts: SimParts;
  readonly #index: number;
  readonly #generations = new Generations();
  readonly #closed = new Set<Generation>();
  readonly #history: SimHistory;
  readonly #books: WorkerBooks;
  readonly #send: Answering;
  readonly #ends: (PromiseLike<void> | undefined)[] = [];
  #config: WorkerConfig | undefined;
  /** Goes up with each kill: what began before is gone. */
  #life = 0;
  #calm = false;
  #queryCount = 0;
  #running = 0;

  constructor(index: number, parts: SimParts) {
    const { host, random, network, planted } = parts;
    this.#parts = parts;
    this.#index = index;
    this.#send = faultyNetwork(parts.app, random, network);
    this.#books = booksOf();
    this.#history = new SimHistory({
      host: { ...host, metrics: recordedMetrics() },
      random,
      passage: () => passageOf(network.fault()),
      uncounted: planted === "I1 counts nothing ahead",
      dropsOnRetry: planted === "I1 takes a repeated batch for sent",
    });
  }

  async start(): Promise<void> {
    await this.#history.start();
    this.#follow();
    for (let client = 0; client < clientsPerWorker; client += 1) this.#ask();
  }

  /**
   * Queries that run and records in memory are gone. The folder stays, and so does the configuration;
   * it registers anew.
   */
  async kill(): Promise<void> {
    this.#life += 1;
    this.#books.kills += 1;
    await this.#history.kill();
    if (this.#parts.planted === "I6 forgets its revision") this.#forget();
    else this.#config?.link.presence.lost();
    for (let client = 0; client < clientsPerWorker; client += 1) this.#ask();
  }

  /** No new queries from here on. */
  calm(): void {
    this.#calm = true;
  }

  /** It runs under `hash`, no query is under way, and no record waits. */
  isAtRest(hash: string): boolean {
    const agreed = this.#books.positions.at(-1)?.hash === hash;
    return agreed && this.#running === 0 && this.#history.status().queued === 0;
  }

  result(): FleetRun["workers"][number] {
    const { queued, dropped } = this.#history.status();
    this.#books.trace.push(`${this.#index} dropped ${dropped}`);
    return { ...this.#books, arrived: this.#history.arrived, queued, dropped };
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#ends, this.#config?.[Symbol.asyncDispose]()]);
    await this.#history.close();
  }

  /** One client: asks, waits for the answer, asks again. */
  #ask(): void {
    const { host, random } = this.#parts;
    const life = this.#life;
    host.clock.timer(random() * idleMsMax, () => {
      if (life !== this.#life || this.#calm) return;
      const held = this.#generations.hold();
      if (!held.ok) return this.#ask();
      const id = `w${this.#index}-${(this.#queryCount += 1)}`;
      this.#books.sent.add(id);
      this.#history.begin();
      this.#running += 1;
      const first = held.value.generation.revision;
      host.clock.timer(random() * runMsMax, () => {
        using hold = held.value;
        this.#running -= 1;
        // Whoever was killed neither answers nor keeps a record.
        if (life === this.#life) this.#end(id, first, hold.generation);
      });
    });
  }

  #end(id: string, first: string, generation: Generation): void {
    const { host, planted } = this.#parts;
    const { queries, complete, trace } = this.#books;
    const active = this.#generations.active?.revision ?? "none";
    const last = planted === "I7 reads what is active" ? active : generation.revision;
    queries.push({ first, last, closed: this.#closed.has(generation) });
    this.#history.append(id);
    if (planted === "I3 invents a record") this.#history.append(`${id}-again`);
    complete.add(id);
    trace.push(`${id} ${host.clock.nowMs()} ${last}`);
    this.#ask();
  }

  #follow(): void {
    const { host } = this.#parts;
    const { positions, trace, contents } = this.#books;
    const followed = followControlPlane({
      // Counters of its own: five workers are five processes.
      host: { ...host, metrics: recordedMetrics() },
      transport: { send: this.#send, [Symbol.asyncDispose]: () => Promise.resolve() },
      control: {
        url: "https://control",
        allowInsecureHttp: false,
        secrets: [secret],
        pollTimeoutSecs: 30,
      },
      presence: {
        name: `pod-${this.#index}`,
        version: "0.1.0",
        heartbeatIntervalSecs: 30,
        labels: () => ({}),
        report: () =>
          reportOf({ life: this.#config?.life() ?? newLife, draining: false, queries: [] }),
        leasesLost: () => {},
        cancel: () => {},
        predecessorProof: () => undefined,
        registered: () => {},
      },
      peers: undefined,
      disk: undefined,
      generations: { swap: (next) => this.#swap(next) },
      open: (snapshot, revision) => {
        contents.push(snapshot.head.revision);
        return Promise.resolve(ok(this.#generationOf(revision)));
      },
      changed: (life) => {
        const taken = takenOf(life);
        if (taken === undefined && this.#generations.active !== undefined) this.#books.gaps += 1;
        if (taken !== undefined) positions.push(taken.revision);
        const sequence = taken?.revision.sequence ?? 0;
        trace.push(`${this.#index} ${host.clock.nowMs()} ${sequence} ${life.consecutiveFailures}`);
      },
    });
    if (!followed.ok) throw new Error(followed.error);
    this.#config = followed.value;
  }

  async #swap(next: Generation | undefined): Promise<void> {
    if (this.#parts.planted === "I7 closes at once") await this.#generations.active?.close();
    await this.#generations.swap(next);
  }

  #generationOf(revision: string): Generation {
    const generation: Partial<Generation> = {
      revision,
      close: () => {
        this.#closed.add(generation as Generation);
        return Promise.resolve();
      },
    };
    return generation as Generation;
  }

  /** What it ran under is over once its queries are. */
  #forget(): void {
    this.#ends.push(this.#config?.[Symbol.asyncDispose]());
    this.#follow();
  }
}

function booksOf(): WorkerBooks {
  return {
    positions: [],
    contents: [],
    sent: new Set(),
    complete: new Set(),
    queries: [],
    trace: [],
    kills: 0,
    gaps: 0,
  };
}

function passageOf(fault: Fault): Passage {
  if (fault === "none" || fault === "replay") return "arrives";
  return fault === "silent" ? "arrivesUnanswered" : "lost";
}

/** A network between one worker and the control plane; what it replays is what this worker once got. */
function faultyNetwork(
  app: { fetch(request: Request): Response | Promise<Response> },
  random: () => number,
  network: { fault(): Fault },
): Answering {
  const whole = overApp(app);
  const heard = new Map<string, WireAnswer>();
  return async (request, signal) => {
    const fault = network.fault();
    if (fault === "cut") return err({ code: "unreachable", detail: "ECONNRESET" });
    if (fault === "silent") return silence(signal);
    const { pathname } = new URL(request.url);
    const old = heard.get(pathname);
    if (fault === "replay" && old !== undefined) return ok(old);
    // Inflating is another thread's work, whose turn no seed decides.
    const plain = { ...request.headers, "accept-encoding": "identity" };
    const answer = await whole({ ...request, headers: plain }, signal);
    if (!answer.ok || answer.value.body.length === 0) return answer;
    if (!heard.has(pathname) || random() < 0.3) heard.set(pathname, answer.value);
    return damaged(answer.value, fault, random);
  };
}

function damaged(
  answer: WireAnswer,
  fault: Fault,
  random: () => number,
): Result<WireAnswer, never> {
  const body = Uint8Array.from(answer.body);
  const at = Math.floor(random() * body.length);
  if (fault === "truncate") return ok({ ...answer, body: body.subarray(0, at) });
  if (fault === "damage") body[at] = (body[at] ?? 0) ^ (1 + Math.floor(random() * 255));
  return ok({ ...answer, body });
}
