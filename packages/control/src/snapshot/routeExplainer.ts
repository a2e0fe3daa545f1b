/** Route explain over what is served now: compiled once per revision, opening nothing. */
import { allowListAuthorizer } from "@gateway/core/route/allowList.ts";
import { routeExplainer as explainerOf } from "@gateway/core/route/explain.ts";
import type { Configuration } from "../config/configuration.ts";
import { fileOf } from "../config/file.ts";
import { fileSchema } from "../config/objects.ts";
import type { ControlDeps } from "../deps.ts";
import { objectsOfBody } from "./build.ts";

type Explain = ControlDeps["explainRoute"];

/** Answers `config.notReady` as the refusal while there is no configuration. */
export function routeExplainer(configuration: Pick<Configuration, "current">): Explain {
  let compiled: { readonly hash: string; readonly explain: Explain } | undefined;
  return async (question) => {
    const built = configuration.current();
    if (built === undefined) {
      const message = "The gateway has no active configuration yet.";
      return { group: undefined, refusal: { code: "config.notReady", message }, trace: [] };
    }
    if (compiled?.hash !== built.revision.hash) {
      compiled = { hash: built.revision.hash, explain: explainFor(built.bytes) };
    }
    return compiled.explain(question);
  };
}

function explainFor(bytes: Uint8Array): Explain {
  // It was checked when it was written; what no longer parses was refused by `refresh` already.
  const config = fileSchema.parse(fileOf(objectsOfBody(bytes)));
  const operators = {
    groups: config.auth?.operatorGroups ?? [],
    roles: config.auth?.operatorRoles ?? [],
  };
  return explainerOf(config, allowListAuthorizer(config.clusterGroups, operators));
}
