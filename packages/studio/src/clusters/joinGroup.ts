/** The group by which queries come to a new cluster: without one none does. */
import { messageOf, step } from "../api/client.ts";
import type { ConfigObject } from "../api/shapes.ts";
import type { JsonObject } from "../tool/json.ts";
import { membersOf } from "../write/members.ts";
import { putObject, type WriteResult } from "../write/write.ts";

/** A group of the cluster's own name; no group's name begins so. */
export const ownGroup = "+own";
/** What a group of its own begins with; its page changes it. */
export const ownGroupCap = 10;

/** `chosen`: `ownGroup`, a group's name, or empty for none. Answers why it was not done, or undefined. */
export async function joinGroup(
  cluster: string,
  chosen: string,
  groups: readonly ConfigObject[],
): Promise<string | undefined> {
  if (chosen === "") return undefined;
  const group = groups.find(({ name }) => name === chosen);
  try {
    const result = await (group === undefined ? made(cluster) : joined(cluster, group));
    if (result.kind === "written") return undefined;
    return "somebody changed that group meanwhile";
  } catch (error) {
    return messageOf(error);
  }
}

function made(cluster: string): Promise<WriteResult> {
  const body = { members: [cluster], maxRunningQueries: ownGroupCap };
  return putObject(`/groups/${step(cluster)}`, body, "absent");
}

function joined(cluster: string, { name, body, version }: ConfigObject): Promise<WriteResult> {
  const next: JsonObject = { ...body, members: [...membersOf(body), cluster] };
  return putObject(`/groups/${step(name)}`, next, version);
}
