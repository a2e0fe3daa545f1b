import { describe, expect, it } from "vitest";
import { threadHeap } from "./threadHeap.ts";

const mb = 1 << 20;

describe("threadHeap", () => {
  it("collects what a start left, though the thread is busy", () => {
    const thread = threadOf();
    thread.look({ heldBytes: 200 * mb, busyPart: 0.9 });
    expect(thread.collections()).toBe(1);
  });

  it("collects again only once a busy thread has grown", () => {
    const thread = threadOf();
    thread.look({ heldBytes: 200 * mb, busyPart: 0.9 });
    thread.look({ heldBytes: 220 * mb, busyPart: 0.9 });
    expect(thread.collections()).toBe(1);
    thread.look({ heldBytes: 240 * mb, busyPart: 0.9 });
    expect(thread.collections()).toBe(2);
  });

  it("collects once when the thread has become quiet, however little it grew", () => {
    const thread = threadOf();
    thread.look({ heldBytes: 200 * mb, busyPart: 0.9 });
    for (let look = 0; look < 3; look += 1) thread.look({ heldBytes: 201 * mb, busyPart: 0 });
    expect(thread.collections()).toBe(2);
  });
});

interface Moment {
  readonly heldBytes: number;
  readonly busyPart: number;
}

/** A thread whose timer fires when told to. */
function threadOf() {
  let moment: Moment = { heldBytes: 0, busyPart: 1 };
  let collections = 0;
  let due: (() => void) | undefined;
  threadHeap({
    clock: {
      timer: (_ms, fire) => {
        due = fire;
        return { [Symbol.dispose]: () => {} };
      },
    },
    heldBytes: () => moment.heldBytes,
    busyPart: () => moment.busyPart,
    collect: () => void (collections += 1),
  });
  return {
    collections: () => collections,
    look: (next: Moment) => {
      moment = next;
      due?.();
    },
  };
}
