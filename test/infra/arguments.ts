/** What a component of a walked deployment was given, as its test reads it. */
import { outputOf } from "./outputs.ts";
import type { Made } from "./recorded.ts";

/** What SST itself would hand over first. */
const before: Readonly<Record<string, () => Record<string, unknown>>> = {
  service: () => ({
    enableExecuteCommand: true,
    networkConfiguration: { assignPublicIp: true, subnets: ["a"], securityGroups: ["default"] },
  }),
  target: () => ({}),
  loadBalancer: () => ({ securityGroups: ["open"] }),
};

/** As SST does it: a function changes the arguments in place, an object goes over them. */
export function transformed(args: Made["args"], what: string): Record<string, unknown> {
  const transforms = args["transform"] as Record<string, unknown>;
  const given = before[what]?.() ?? {};
  const transform = transforms[what];
  if (typeof transform !== "function") return { ...given, ...(transform as object) };
  Reflect.apply(transform, undefined, [given]);
  return given;
}

/** The gateway's config, as a container is given it. */
export function configIn(args: Made["args"]): unknown {
  const { GATEWAY_CONFIG: config } = args["environment"] as Record<string, unknown>;
  return JSON.parse(String(outputOf(config).value));
}

/** Names of what a function is linked to. */
export function linksOf(args: Made["args"]): readonly string[] {
  return (args["link"] as { readonly name: string }[]).map(({ name }) => name);
}
