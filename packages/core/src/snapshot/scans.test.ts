import { groupSchema } from "@gateway/contract/config/group.ts";
import { guardrailsSchema } from "@gateway/contract/config/guardrail.ts";
import { expect, it } from "vitest";
import { checkSnapshot } from "./check.ts";

it("names the group and the engine that can not say how much a statement would read", () => {
  const scans = { type: "maxScanBytes", maxBytes: 1 };
  const guards = [
    { ...scans, name: "one", clusterGroups: ["sound", "mixed"] },
    { ...scans, name: "all" },
    { ...scans, name: "sound", clusterGroups: ["sound"] },
  ];
  const group = (members: readonly string[]) =>
    groupSchema.parse({ members, maxRunningQueries: 1 });
  const problems = checkSnapshot({
    clusters: { pg: { engine: "postgresql" }, duck: { engine: "duckDb" } },
    clusterGroups: { sound: group(["pg"]), mixed: group(["pg", "duck"]) },
    routers: [],
    guardrails: guardrailsSchema.parse({ guards }),
  });
  const reason =
    "the group mixed has the cluster duck of the engine duckDb, which does not say before a statement runs how many bytes it would read";
  expect(problems).toEqual([
    { path: ["guardrails", "guards", 0, "clusterGroups", 1], reason },
    { path: ["guardrails", "guards", 1, "type"], reason },
  ]);
});
