import { describe, expect, it } from "vitest";
import { freedMemory } from "./freedMemory.ts";

const mb = 1 << 20;

describe("freedMemory", () => {
  it("collects and gives back what the start left, once it is over", () => {
    const { did, starts } = processOf({ starting: true });
    expect(did).toEqual([]);
    starts();
    expect(did).toEqual(["collect", "trim"]);
  });

  it("gives back what a busy process freed, and collects nothing in it", () => {
    const process = processOf();
    process.look({ residentBytes: 140 * mb, busyPart: 0.9 });
    expect(process.did).toEqual(["collect", "trim", "trim"]);
  });

  it("leaves a process alone that has not grown since it gave back", () => {
    const process = processOf();
    process.look({ residentBytes: 110 * mb, busyPart: 0.9 });
    process.look({ residentBytes: 130 * mb, busyPart: 0.9 });
    expect(process.did).toEqual(["collect", "trim"]);
  });

  it("collects twice when a start has become quiet, and then rests", () => {
    const process = processOf();
    for (let look = 0; look < 5; look += 1) process.look({ residentBytes: 100 * mb, busyPart: 0 });
    expect(process.did).toEqual(["collect", "trim", "collect", "trim", "collect", "trim"]);
  });

  it("collects twice when a process becomes quiet after work", () => {
    const process = processOf();
    for (let look = 0; look < 3; look += 1) process.look({ residentBytes: 100 * mb, busyPart: 0 });
    process.did.length = 0;
    process.look({ residentBytes: 110 * mb, busyPart: 0.9 });
    for (let look = 0; look < 3; look += 1) process.look({ residentBytes: 110 * mb, busyPart: 0 });
    expect(process.did).toEqual(["collect", "trim", "collect", "trim"]);
  });

  it("gives back once a minute in a busy process that does not grow", () => {
    const process = processOf();
    for (let look = 0; look < 12; look += 1) {
      process.look({ residentBytes: 100 * mb, busyPart: 0.9 });
    }
    expect(process.did).toEqual(["collect", "trim", "trim", "trim"]);
  });

  it("keeps less garbage in a busy process that has become large by it, until it is small again", () => {
    const process = processOf();
    process.did.length = 0;
    process.look({ residentBytes: 320 * mb, busyPart: 0.9, heldBytes: 80 * mb });
    expect(process.did).toEqual(["collect", "keep little", "trim"]);
    process.look({ residentBytes: 326 * mb, busyPart: 0.9, heldBytes: 80 * mb });
    process.look({ residentBytes: 230 * mb, busyPart: 0.9, heldBytes: 80 * mb });
    expect(process.did.slice(3)).toEqual(["keep usual"]);
  });

  it("gives back at each look what a large process freed since the last one", () => {
    const process = processOf();
    process.look({ residentBytes: 320 * mb, busyPart: 0.9, heldBytes: 80 * mb });
    process.did.length = 0;
    process.look({ residentBytes: 327 * mb, busyPart: 0.9, heldBytes: 80 * mb });
    expect(process.did).toEqual([]);
    process.look({ residentBytes: 329 * mb, busyPart: 0.9, heldBytes: 80 * mb });
    expect(process.did).toEqual(["trim"]);
  });

  it("leaves a process its garbage in which much lives, and looks at it again after a minute", () => {
    const process = processOf();
    process.did.length = 0;
    const large = { residentBytes: 500 * mb, busyPart: 0.9, heldBytes: 200 * mb };
    for (let look = 0; look < 7; look += 1) process.look(large);
    expect(process.did.filter((did) => did !== "trim")).toEqual(["collect", "collect"]);
  });

  it("does nothing where nobody knows how much there is", () => {
    const { did, looks } = processOf({ start: { residentBytes: undefined, busyPart: 0 } });
    expect([did, looks()]).toEqual([[], 0]);
  });

  it("looks no more once it is disposed", () => {
    const { memory, looks } = processOf();
    expect(looks()).toBe(1);
    memory[Symbol.dispose]();
    expect(looks()).toBe(0);
  });
});

interface Moment {
  readonly residentBytes: number | undefined;
  readonly busyPart: number;
  readonly heldBytes?: number;
}

/** A process whose timers fire when told to; its start is over unless it is said to be `starting`. */
function processOf({
  start = { residentBytes: 100 * mb, busyPart: 1 },
  starting = false,
}: { readonly start?: Moment; readonly starting?: boolean } = {}) {
  let moment = start;
  const did: string[] = [];
  const waiting = new Set<() => void>();
  const memory = freedMemory({
    clock: {
      timer: (_ms, fire) => {
        waiting.add(fire);
        return { [Symbol.dispose]: () => void waiting.delete(fire) };
      },
    },
    residentBytes: () => moment.residentBytes,
    busyPart: () => moment.busyPart,
    collect: () => void did.push("collect"),
    trim: (done) => {
      did.push("trim");
      done();
    },
    heldBytes: () => moment.heldBytes ?? 50 * mb,
    keepGarbage: (much) => void did.push(`keep ${much}`),
  });
  const fireAll = (): void => {
    const due = [...waiting];
    waiting.clear();
    for (const fire of due) fire();
  };
  if (!starting) fireAll();
  return {
    memory,
    did,
    looks: () => waiting.size,
    starts: fireAll,
    look: (next: Moment) => {
      moment = next;
      fireAll();
    },
  };
}
