/** The policy of a configuration: its own rules, or the server that it names. */
import type { AccessControlConfig } from "@gateway/contract/config/accessControl.ts";
import { rulesPolicy } from "@gateway/core/police/rules.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Policy } from "@gateway/core/port/sql/policy.ts";
import { unreachable } from "@gateway/core/result.ts";
import { cerbosPolicy } from "./cerbos.ts";
import { opaPolicy } from "./opa.ts";
import type { Told } from "./remotePolicy.ts";

/** Opens nothing before it is asked. */
export function policyOf(
  config: AccessControlConfig,
  host: Host,
): Policy & Partial<AsyncDisposable> {
  switch (config.provider) {
    case "rules":
      return rulesPolicy(config.rules);
    case "opa":
      return opaPolicy({ ...config.opa, ...toldBy(config) }, host);
    case "cerbos":
      return cerbosPolicy({ ...config.cerbos, ...toldBy(config) }, host);
    default:
      return unreachable(config);
  }
}

function toldBy({ settings, columns }: Told): Told {
  return { settings, columns };
}
