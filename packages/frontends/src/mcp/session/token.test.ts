import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { SessionTokens } from "./token.ts";

const agent = { name: "agent \u{1f600}", version: "1" };
const keyOf = (byte: number) => new Uint8Array(32).fill(byte);
const hostWith = (seed: number, ...keys: readonly Uint8Array[]) => ({
  ...virtualHost(seed),
  fleetKeys: () => keys,
});

describe("SessionTokens", () => {
  it("opens what another process of the fleet sealed, also while the fleet's secret is changed", () => {
    const [before, after] = [keyOf(1), keyOf(2)];
    const token = new SessionTokens(hostWith(1, before)).seal("ann", agent);
    for (const host of [hostWith(2, before), hostWith(3, after, before)]) {
      expect(new SessionTokens(host).open(token, "ann")).toMatchObject(agent);
    }
    expect(new SessionTokens(hostWith(4, after)).open(token, "ann")).toBeUndefined();
    const alone = [new SessionTokens(virtualHost(5)), new SessionTokens(virtualHost(6))] as const;
    expect(alone[1].open(alone[0].seal("ann", agent), "ann")).toBeUndefined();
  });

  it("cuts long names, so that the token stays one that every client can send", () => {
    const tokens = new SessionTokens(virtualHost(1));
    const token = tokens.seal("u".repeat(10_000), {
      name: "\u{1f600}".repeat(9_000),
      version: "v".repeat(9_000),
    });
    expect(token.length).toBeLessThan(1_500);
    expect(tokens.open(token, "u".repeat(10_000))?.version).toHaveLength(64);
  });
});
