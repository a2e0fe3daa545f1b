import { Canceller } from "@gateway/core/query/canceller.ts";
import { describe, expect, it } from "vitest";
import { within } from "./wait.ts";

describe("within", () => {
  it("answers aborted as soon as the signal says so, and a value that came before", async () => {
    const canceller = new Canceller();
    const { signal } = canceller;
    expect(await within(signal, Promise.resolve(7))).toBe(7);
    await expect(within(signal, Promise.reject(new Error("lost")))).rejects.toThrow("lost");
    const waiting = within(signal, new Promise<number>(() => undefined));
    canceller.abort();
    expect(await waiting).toBe("aborted");
    expect(await within(signal, Promise.resolve(7))).toBe("aborted");
  });
});
