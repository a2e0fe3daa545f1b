/** Checks the catalog provider against who asks it and whom it asks. */
import type { ConfigProblem, SnapshotParts } from "../check.ts";
import { asksCatalog, translatesByTypes } from "./use.ts";

/** Without a catalog nobody knows the columns around a mask, tells a view from a table, or knows a column's type. */
export function catalogProblems(config: SnapshotParts): readonly ConfigProblem[] {
  const { accessControl: access, catalogProvider, translation = {} } = config;
  const byTypes = translatesByTypes(translation);
  if (catalogProvider !== undefined) {
    if (access === undefined && !byTypes) {
      return [{ path: ["catalogProvider"], reason: unused }];
    }
    return [...(byTypes ? untyped(catalogProvider.provider) : []), ...accountProblems(config)];
  }
  const typeless = byTypes ? [{ path: resolution, reason: "needs a catalogProvider" }] : [];
  return [...typeless, ...(access === undefined ? [] : uncatalogued(access))];
}

const unused =
  "is asked by accessControl and by translation with schemaResolutionTimeoutMs alone, and there is neither";
const resolution = ["translation", "schemaResolutionTimeoutMs"];

function uncatalogued(access: NonNullable<SnapshotParts["accessControl"]>): ConfigProblem[] {
  const rules = access.provider === "rules" ? access.rules : [];
  const bare = rules.flatMap(({ columns, masks = {} }, index) => {
    if (columns !== undefined || Object.keys(masks).length === 0) return [];
    const path = ["accessControl", "rules", index, "masks"];
    return [{ path, reason: "needs columns beside it, or a catalogProvider that knows them" }];
  });
  if (access.views !== "deny") return bare;
  return [...bare, { path: ["accessControl", "views"], reason: "deny needs a catalogProvider" }];
}

/** Types count in the words of the engine that runs the statement. */
function untyped(provider: string): readonly ConfigProblem[] {
  if (provider === "engine") return [];
  return [{ path: resolution, reason: `needs the catalogProvider engine: ${provider} ${tells}` }];
}

const tells = "does not tell types as the engines name them";

/** A cluster whose users bring their own identity is asked for metadata as somebody of the configuration, or not at all. */
function accountProblems(config: SnapshotParts): readonly ConfigProblem[] {
  const { catalogProvider, clusters, clusterGroups } = config;
  if (catalogProvider?.provider !== "engine") return [];
  const asked = new Set(
    Object.keys(clusterGroups)
      .filter((group) => asksCatalog(config, group))
      .flatMap((group) => clusterGroups[group]?.members ?? []),
  );
  const { account } = catalogProvider.engine;
  return [...asked].flatMap((name) => {
    const mode = clusters[name]?.queryAuth?.type ?? "serviceAccount";
    const reason = {
      serviceAccount: undefined,
      impersonate: account === undefined ? "an account with the user" : undefined,
      passthrough:
        account?.password === undefined ? "an account with user and password" : undefined,
      tokenExchange: "another catalogProvider: a token is exchanged for users alone",
    }[mode];
    if (reason === undefined) return [];
    const needs = `cluster ${JSON.stringify(name)} is under ${mode}, which needs ${reason}`;
    return [{ path: ["catalogProvider", "engine"], reason: needs }];
  });
}
