/** Members of a group, whatever its document looks like. */
import type { JsonObject } from "../tool/json.ts";

export function membersOf(body: JsonObject): readonly string[] {
  const members = body["members"];
  return Array.isArray(members) ? members.map(String) : [];
}
