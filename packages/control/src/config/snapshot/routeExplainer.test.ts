import { describe, expect, it } from "vitest";
import type { Authorizer } from "@gateway/core/port/authorizer.ts";
import type { Generation } from "@gateway/core/snapshot/generation.ts";
import { ok } from "@gateway/core/result.ts";
import type { Built, Configuration } from "../configuration.ts";
import { objectsIn, type JsonMap } from "../file.ts";
import { buildBody } from "./build.ts";
import { routeExplainer } from "./routeExplainer.ts";

const members = ["duck"];
const file = {
  clusters: { duck: { engine: "duckDb" } },
  clusterGroups: {
    closed: { members, maxRunningQueries: 4, authorization: { allowUsers: [] } },
    first: { members, maxRunningQueries: 4 },
    second: { members, maxRunningQueries: 4 },
  },
  auth: { provider: "static", staticUsers: { users: {} } },
};
const openfga = { url: "https://openfga.example.com", storeId: "01S" };
const byFga = { ...file, authorization: { provider: "openfga", openfga } };

describe("routeExplainer", () => {
  it("asks whom queries ask: the authorizer that this process serves the revision with", async () => {
    const { current, served } = servedOf(byFga);
    const asked: string[] = [];
    const explain = routeExplainer(current, served(authorizerOf(asked, "second")));
    const answer = await explain(question);
    expect(answer).toMatchObject({ group: "second", refusal: undefined });
    expect(answer.undecided).toBeUndefined();
    expect(asked).toEqual(["closed", "first", "second"]);
    const nobody = routeExplainer(current, served(authorizerOf([], "none")));
    expect((await nobody(question)).refusal?.code).toBe("route.noGroup");
  });

  it.each([
    ["serves nothing", undefined],
    ["still serves another revision", "1.1.sha256:another"],
  ])("leaves open what OpenFGA would say where the process %s", async (_what, revision) => {
    const { current, served } = servedOf(byFga);
    const asked: string[] = [];
    const generations = revision === undefined ? undefined : served(authorizerOf(asked), revision);
    const answer = await routeExplainer(current, generations)(question);
    expect(answer).toMatchObject({ group: undefined, refusal: undefined, undecided: "first" });
    expect(asked).toEqual([]);
  });

  it("asks the lists alone where they decide alone", async () => {
    const { current, served } = servedOf(file);
    const asked: string[] = [];
    const explain = routeExplainer(current, served(authorizerOf(asked, "second")));
    const answer = await explain(question);
    expect([answer.group, answer.undecided]).toEqual(["first", undefined]);
    expect(asked).toEqual([]);
  });
});

const question = {
  sql: "select 1",
  user: "alice",
  groups: [],
  roles: [],
  frontend: "trinoHttp",
  tags: {},
  headers: {},
};

/** Lets everybody into the one group and remembers what it was asked. */
function authorizerOf(asked: string[], open = ""): Authorizer {
  return {
    mayUse: async (_identity, group) => {
      asked.push(group);
      return group === open;
    },
    mayCancel: async () => false,
  };
}

function servedOf(written: JsonMap) {
  const { bytes, hash } = buildBody(objectsIn(written));
  const built = { bytes, revision: { epoch: 1, sequence: 1, hash } } as Built;
  const current: Pick<Configuration, "current"> = { current: () => built };
  return {
    current,
    served: (authorizer: Authorizer, revision = `1.1.${hash}`) => ({
      hold: () => {
        const generation = { revision, authorizer } as Generation;
        return ok({ generation, leave: () => {}, [Symbol.dispose]: () => {} });
      },
    }),
  };
}
