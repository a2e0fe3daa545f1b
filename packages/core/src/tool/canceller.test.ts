import { addAbortListener } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { abortedWith, Canceller } from "./canceller.ts";

describe("Canceller", () => {
  it("calls and keeps listeners as the platform's controller does, whatever the order of things", () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("add" as const), who: fc.nat(3), once: fc.boolean() }),
      fc.record({ do: fc.constant("remove" as const), who: fc.nat(3) }),
      fc.record({ do: fc.constant("abort" as const), reason: fc.nat(3) }),
      // A listener that takes another one away while listeners are called.
      fc.record({ do: fc.constant("addRemover" as const), who: fc.nat(3), of: fc.nat(3) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        expect(played(new Canceller(), steps)).toEqual(played(new AbortController(), steps));
      }),
    );
  });

  it("is heard by the platform's own waits", async () => {
    const canceller = new Canceller();
    const waiting = wait(1_000_000, undefined, { signal: canceller.signal });
    canceller.abort(new Error("enough"));
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  });

  it("is heard through addAbortListener, once", () => {
    const canceller = new Canceller();
    let heard = 0;
    addAbortListener(canceller.signal, () => {
      heard += 1;
    });
    canceller.abort("first");
    canceller.abort("second");
    expect(heard).toBe(1);
    expect(canceller.signal.reason).toBe("first");
  });

  it("throws its reason when asked to", () => {
    const canceller = new Canceller();
    canceller.signal.throwIfAborted();
    canceller.abort(new RangeError("over"));
    expect(() => canceller.signal.throwIfAborted()).toThrow(RangeError);
  });
});

describe("abortedWith", () => {
  it("passes the reason on, also of an abort that was before", () => {
    const first = new Canceller();
    const late = new AbortController();
    first.abort("why");
    using _late = abortedWith(first.signal, late);
    expect(late.signal.reason).toBe("why");
  });

  it("passes nothing on once it is disposed", () => {
    const first = new Canceller();
    const other = new AbortController();
    abortedWith(first.signal, other)[Symbol.dispose]();
    first.abort("why");
    expect(other.signal.aborted).toBe(false);
  });
});

type Step =
  | { readonly do: "add"; readonly who: number; readonly once: boolean }
  | { readonly do: "remove"; readonly who: number }
  | { readonly do: "abort"; readonly reason: number }
  | { readonly do: "addRemover"; readonly who: number; readonly of: number };

/** What was called and seen while the steps were taken on a controller. */
function played(controller: AbortController | Canceller, steps: readonly Step[]): unknown[] {
  const { signal } = controller;
  const seen: unknown[] = [];
  const plain = [0, 1, 2, 3].map((who) => () => void seen.push(`listener ${who}`));
  const at = (who: number) => plain[who] ?? plain[0] ?? (() => {});
  for (const step of steps) {
    switch (step.do) {
      case "add":
        signal.addEventListener("abort", at(step.who), { once: step.once });
        break;
      case "remove":
        signal.removeEventListener("abort", at(step.who));
        break;
      case "abort":
        controller.abort(step.reason);
        seen.push([signal.aborted, signal.reason]);
        break;
      case "addRemover":
        signal.addEventListener("abort", () => {
          seen.push(`remover ${step.who}`);
          signal.removeEventListener("abort", at(step.of));
        });
        break;
    }
  }
  return seen;
}
