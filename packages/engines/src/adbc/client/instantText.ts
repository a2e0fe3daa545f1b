/** A value as PostgreSQL's own text, in UTC. */
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import { cellWriter, postgresText } from "@gateway/core/type/text.ts";
import type { Parameter } from "@gateway/core/type/type.ts";

const decoder = new TextDecoder();

/** `2024-02-29 12:34:56.789+00`, with `BC` behind years before the first; null of a NULL. */
export function instantText({ type, value }: Parameter): string | null {
  if (value === null) return null;
  const [vector] = batchOf([columnOf("instant", type)], [[value]]).columns;
  if (vector === undefined) throw new Error("a batch has its columns");
  const writer = cellWriter(vector, postgresText);
  const bytes = new Uint8Array(writer.bound(0));
  return decoder.decode(bytes.subarray(0, writer.write(bytes, 0, 0)));
}
