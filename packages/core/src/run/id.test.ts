import { describe, expect, it } from "vitest";
import { virtualHost } from "../rig/virtual.ts";
import { queryIds } from "./id.ts";

describe("queryIds", () => {
  it("makes ids that clients of Trino accept, never two alike", () => {
    const next = queryIds(virtualHost(1));
    const ids = Array.from({ length: 1_000 }, () => next());
    expect(new Set(ids).size).toBe(1_000);
    for (const id of ids) expect(id).toMatch(/^[0-9]{8}_[0-9]{6}_[0-9]{5}_[a-z0-9]+$/);
  });

  it("begins to count again behind 99,999", () => {
    const next = queryIds(virtualHost(1));
    for (let n = 1; n < 99_998; n += 1) next();
    const counts = [next(), next(), next(), next()].map((id) => id.slice(16, 21));
    expect(counts).toEqual(["99998", "99999", "00001", "00002"]);
  });

  it("differs from process to process by its suffix", () => {
    const [one, other] = [queryIds(virtualHost(1))(), queryIds(virtualHost(2))()];
    expect(one.slice(0, 21)).toBe(other.slice(0, 21));
    expect(one).not.toBe(other);
  });
});
