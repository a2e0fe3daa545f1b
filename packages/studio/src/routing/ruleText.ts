/** A rule in a line, from its document alone: nothing here knows a kind of router. */
import type { UnionOption } from "../form/schema.ts";
import { isObject, type Json } from "../tool/json.ts";

const textMax = 160;

export function ruleText(
  router: Json,
  union: { readonly by: string; readonly options: readonly UnionOption[] } | undefined,
): { readonly title: string; readonly text: string } {
  if (!isObject(router)) return { title: "Not readable", text: "" };
  const by = union?.by ?? "type";
  const type = router[by];
  const option = union?.options.find(({ value }) => value === type);
  const rest = Object.entries(router).filter(([name]) => name !== by);
  const text = rest
    .map(([, value]) => partText(value))
    .filter(Boolean)
    .join("; ");
  const short = text.length > textMax ? `${text.slice(0, textMax)} …` : text;
  return { title: option?.title ?? (typeof type === "string" ? type : "Rule"), text: short };
}

function partText(value: Json): string {
  if (Array.isArray(value)) return value.map(partText).filter(Boolean).join(", ");
  if (!isObject(value)) return plainText(value);
  const entries = Object.entries(value);
  const plain = entries.filter(([, each]) => typeof each === "string" || typeof each === "number");
  // A map reads as arrows, an object as its values.
  if (plain.length === entries.length && !("targetGroup" in value) && !("type" in value)) {
    return entries.map(([name, each]) => `${name} → ${plainText(each)}`).join(", ");
  }
  const { targetGroup, type: _type, ...rest } = value;
  const asked = Object.values(rest).map(partText).filter(Boolean).join(" ");
  return typeof targetGroup === "string" ? `${asked} → ${targetGroup}` : asked;
}

/** Switches say nothing without their names. */
function plainText(value: Json | undefined): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
