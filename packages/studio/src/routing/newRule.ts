/** A rule that a link asks for: by the text of queries, to one group. */
import type { Json, JsonObject } from "../tool/json.ts";

/** The routing with the rule behind the others; what it matches is left to type. */
export function withNewRule(routing: JsonObject, targetGroup: string): JsonObject {
  const { routers } = routing;
  const known = Array.isArray(routers) ? (routers as readonly Json[]) : [];
  const rule = { type: "queryRegex", rules: [{ regex: "", targetGroup }] };
  return { ...routing, routers: [...known, rule] };
}
