/**
 * One random fleet with leases on virtual time: workers are killed and frozen, their machines suspended and
 * their clocks set, messages are lost, repeated and late, the control plane goes and comes. Equal seeds and
 * stores play the same.
 */
import type { LeasedOptions } from "@gateway/core/capacity/leased.ts";
import type { Flaws, TestCaps } from "@gateway/core/capacity/rig/leases.ts";
import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import { diceOf, type Dice } from "./fleet.ts";
import { modelControl, realControl, type SimControl } from "./leasedControl.ts";
import { LeasedEngine } from "./leasedEngine.ts";
import { LeasedWorker, type Plan, type SimNetwork } from "./leasedWorker.ts";

const loadMs = 50_000;
/** Others wait for as long as it takes until the slot of one that stands still is given again. */
const tightLoadMs = 200_000;
/** Leases of the dead run out, their engines are asked, what runs too long is ended. */
const settleMsMax = 400_000;

type Mode = LeasedOptions["onUnavailable"];

/** Mistakes that a run has to find. */
export interface Planted {
  readonly flaws?: Flaws;
  readonly careless?: boolean;
  readonly oneClock?: boolean;
}

/** The virtual host and the control plane that a fleet plays with. */
export interface Stage {
  readonly host: VirtualHost;
  controlOf(caps: TestCaps): SimControl;
}

/** Mistakes are planted in the model; everything else is shown of the real one, in memory. */
function stageOf(seed: number, flaws: Flaws | undefined): Stage {
  const host = virtualHost(seed);
  return {
    host,
    controlOf: (caps) =>
      flaws === undefined ? realControl(host, caps) : modelControl(host, caps, flaws),
  };
}

/** Plays the fleet of a seed; `fault` says what must not happen and did. */
export async function play(
  seed: number,
  { flaws, careless = false, oneClock = false }: Planted,
  stage: Stage = stageOf(seed, flaws),
) {
  const { host } = stage;
  const dice = diceOf(seed);
  // A slot that is lost and given again soon has somebody else's statement on it.
  const tight = dice.chance(0.4);
  const caps = tight ? { cluster: { c0: 1 }, group: { "g0/c0": 1 } } : randomCaps(dice);
  const control = stage.controlOf(caps);
  const engine = new LeasedEngine(host.clock, caps, () => host.random());
  const network: SimNetwork = {
    down: false,
    lost: dice.pick([0, 0.02, 0.1]),
    repeated: dice.pick([0, 0.05]),
  };
  const planted = flaws !== undefined || careless || oneClock;
  const onUnavailable: Mode = !planted && dice.chance(0.25) ? "localLimits" : "failClosed";
  const parts = { host, dice, control, onUnavailable, engine, network, careless, oneClock };
  const counts = { killed: 0, frozen: 0, suspended: 0, set: 0, down: 0, blind: 0 };
  const workers = Array.from({ length: dice.between(2, 3) }, () => new LeasedWorker(parts));
  const all = new Set(workers);
  let over = false;
  const tick = (): void => {
    if (!network.down) control.tick();
    if (!over) host.clock.timer(2_000, tick);
  };
  tick();

  const groups = [...new Set(Object.keys(caps.group).map((key) => key.split("/")[0] ?? ""))];
  for (let query = dice.between(15, 45); query > 0; query -= 1) {
    const at = dice.between(0, workers.length - 1);
    const plan = planOf(dice, tight, groups);
    const fromMs = tight ? dice.between(0, tightLoadMs) : dice.between(0, loadMs);
    host.clock.timer(fromMs, () => void workers[at]?.run(plan));
  }
  for (let kill = dice.between(0, 2); kill > 0; kill -= 1) {
    const at = dice.between(0, workers.length - 1);
    const proven = dice.chance(0.5);
    host.clock.timer(dice.between(5_000, loadMs), () => {
      const victim = workers[at];
      if (victim === undefined) return;
      counts.killed += 1;
      victim.kill();
      const successor = new LeasedWorker(parts);
      workers[at] = successor;
      all.add(successor);
      if (proven)
        host.clock.timer(dice.between(500, 5_000), () => void control.proveDead(victim.name));
    });
  }
  planPauses(workers, { host, dice, tight, counts });
  planOutages(workers, { host, dice, control, network, counts });
  await host.advance((tight ? tightLoadMs : loadMs) + 120_000);
  Object.assign(network, { lost: 0, repeated: 0, down: false });
  const left = async () => ({
    ...(await control.left()),
    running: engine.running,
    open: openIn(all),
  });
  let rest = await left();
  for (let passedMs = 0; passedMs < settleMsMax && !isQuiet(rest); passedMs += 5_000) {
    await host.advance(5_000);
    rest = await left();
  }
  const stuck = isQuiet(rest) ? undefined : `left over: ${JSON.stringify(rest)}`;
  // With local limits the fleet may run more while nobody counts for all, and says so.
  const violation = onUnavailable === "failClosed" ? engine.violation : undefined;
  const fault = violation ?? stuck ?? bugIn(host);
  over = true;
  control.close();
  const { ran, fullest, userFull } = engine;
  return { fault, ran, fullest, userFull, ...counts };
}

function planOf(dice: Dice, tight: boolean, groups: readonly string[]): Plan {
  const slow = tight ? dice.chance(0.5) : dice.chance(0.1);
  const long = !tight && dice.chance(0.15);
  return {
    group: groups[dice.between(0, groups.length - 1)] ?? "",
    user: dice.pick(["ann", "ann", "bob"]),
    beginsAfterMs: slow ? dice.between(0, tight ? 20_000 : 90_000) : dice.between(0, 20),
    runMs: long ? dice.between(10_000, 120_000) : dice.between(50, tight ? 16_000 : 8_000),
    leavesAfterMs: dice.chance(0.1) ? dice.between(0, 5_000) : 1e9,
  };
}

interface Outages {
  readonly host: VirtualHost;
  readonly dice: Dice;
  readonly control: SimControl;
  readonly network: SimNetwork;
  readonly counts: { down: number; blind: number };
}

/** One worker that reaches nobody, one that reaches no engine, and a control plane that is gone for a while. */
function planOutages(workers: readonly LeasedWorker[], parts: Outages): void {
  const { host, dice, control, network, counts } = parts;
  if (dice.chance(0.4)) {
    const victim = workers[dice.between(0, workers.length - 1)];
    const fromMs = dice.between(0, loadMs);
    const cut = (is: boolean) => (): void => {
      if (victim !== undefined) victim.cut = is;
    };
    host.clock.timer(fromMs, cut(true));
    host.clock.timer(fromMs + dice.between(1_000, 120_000), cut(false));
  }
  if (dice.chance(0.4)) {
    const victim = workers[dice.between(0, workers.length - 1)];
    const fromMs = dice.between(0, loadMs);
    const blind = (is: boolean) => (): void => {
      if (victim !== undefined) victim.blind = is;
    };
    counts.blind += 1;
    host.clock.timer(fromMs, blind(true));
    host.clock.timer(fromMs + dice.between(1_000, 120_000), blind(false));
  }
  if (dice.chance(0.6)) {
    const fromMs = dice.between(0, loadMs);
    host.clock.timer(fromMs, () => {
      counts.down += 1;
      network.down = true;
    });
    host.clock.timer(fromMs + dice.between(1_000, loadMs), () => {
      control.restart();
      network.down = false;
    });
  }
}

interface Pauses {
  readonly host: VirtualHost;
  readonly dice: Dice;
  readonly tight: boolean;
  readonly counts: { frozen: number; suspended: number; set: number };
}

/** Processes that are stopped, machines that are suspended, and clocks that are set. */
function planPauses(workers: readonly LeasedWorker[], { host, dice, tight, counts }: Pauses): void {
  for (let freeze = dice.between(0, 2); freeze > 0; freeze -= 1) {
    const victimOf = pickOf(dice, tight, workers);
    const forMs = dice.between(2_000, tight ? 180_000 : 90_000);
    host.clock.timer(dice.between(0, loadMs), () => {
      const victim = victimOf();
      counts.frozen += 1;
      victim?.freeze();
      host.clock.timer(forMs, () => victim?.thaw());
    });
  }
  for (let pause = dice.between(0, 2); pause > 0; pause -= 1) {
    const victimOf = pickOf(dice, tight, workers);
    const forMs = dice.between(2_000, 180_000);
    host.clock.timer(dice.between(0, loadMs), () => {
      const victim = victimOf();
      counts.suspended += 1;
      victim?.suspend();
      host.clock.timer(forMs, () => victim?.thaw());
    });
  }
  for (let set = dice.between(0, 2); set > 0; set -= 1) {
    const at = dice.between(0, workers.length - 1);
    const byMs = dice.between(-200_000, 200_000);
    host.clock.timer(dice.between(0, loadMs), () => {
      counts.set += 1;
      workers[at]?.setWall(byMs);
    });
  }
}

/** Any worker; where the cap is tight one that is about to write, if there is one. */
function pickOf(dice: Dice, tight: boolean, workers: readonly LeasedWorker[]) {
  const at = dice.between(0, workers.length - 1);
  return () => (tight ? workers.find(({ poised }) => poised) : undefined) ?? workers[at];
}

function isQuiet(rest: Readonly<Record<string, number>>): boolean {
  return Object.values(rest).every((count) => count === 0);
}

function openIn(workers: ReadonlySet<LeasedWorker>): number {
  return [...workers].reduce((sum, { open }) => sum + open, 0);
}

function bugIn({ log }: ReturnType<typeof virtualHost>): string | undefined {
  const [bug] = log.bugs;
  return bug === undefined
    ? undefined
    : `a bug: ${bug instanceof Error ? bug.message : "of no kind"}`;
}

function randomCaps(dice: Dice): TestCaps {
  const clusters = dice.chance(0.7) ? ["c0"] : ["c0", "c1"];
  const groups = dice.chance(0.7) ? ["g0"] : ["g0", "g1"];
  const cluster = Object.fromEntries(clusters.map((name) => [name, dice.between(1, 3)]));
  const group = Object.fromEntries(
    groups.flatMap((name) => {
      const most = dice.between(1, 3);
      return clusters.map((one) => [`${name}/${one}`, most]);
    }),
  );
  return dice.chance(0.4) ? { cluster, group, user: dice.between(1, 2) } : { cluster, group };
}
