import { describe, expect, it } from "vitest";
import { toldBy } from "./told.ts";
import type { GuardSaid } from "./webhook.ts";

describe("toldBy", () => {
  const own = "Ask the data team.";

  it.each<readonly [string | undefined, GuardSaid, object | undefined, readonly string[]]>([
    [own, null, undefined, []],
    [undefined, { warn: "slow" }, { warning: "slow (guard g)" }, ["guard g: warned: slow"]],
    [own, { warn: "slow" }, { warning: `${own} (guard g)` }, ["guard g: warned: slow"]],
    [undefined, { deny: "no" }, { code: "policy.denied", message: "no" }, ["guard g: denied: no"]],
    [own, { deny: "no" }, { code: "policy.denied", message: own }, ["guard g: denied: no"]],
    [
      own,
      { deny: "nobody answers", unavailable: true },
      { code: "policy.unavailable", message: "nobody answers", retryAfterMs: 1_000 },
      ["guard g: denied: nobody answers"],
    ],
  ])("makes of the message %s and of %j what the client reads: %j", (message, said, told, log) => {
    const acted: string[] = [];
    const heard = toldBy({ name: "g", message }, said, { acted: (one) => void acted.push(one) });
    expect({ heard }).toMatchObject({ heard: told });
    expect(acted).toEqual(log);
  });
});
