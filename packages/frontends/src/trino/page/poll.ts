/** What a poll asks for in its query string: how long it waits at most, and how large answers are to be. */
import { durationMs } from "@gateway/wire/trino/results.ts";

/** What one poll asks for beside its answer's number. */
export interface Poll {
  /** Held at most so long, when that is shorter than our own limit. */
  readonly holdMs?: number;
  /** About how many bytes of rows the answers are to have from now on. */
  readonly targetBytes?: number;
}

/** Bounds of a page's size: small pages cost requests, large ones memory. */
const targetBytesMin = 16 * 1024;
const targetBytesMax = 16 * 1024 * 1024;

const unitBytes: ReadonlyMap<string, number> = new Map([
  ["B", 1],
  ["kB", 1024],
  ["MB", 1024 ** 2],
  ["GB", 1024 ** 3],
]);

/** `maxWait=500ms&targetResultSize=4MB`. What can not be read is ignored, like every other parameter. */
export function pollOf(query: string): Poll {
  if (query === "") return {};
  const asked = new URLSearchParams(query);
  const holdMs = durationMs(asked.get("maxWait") ?? "");
  const bytes = sizeOf(asked.get("targetResultSize") ?? "");
  return {
    ...(holdMs === undefined ? {} : { holdMs }),
    ...(bytes === undefined
      ? {}
      : { targetBytes: Math.min(Math.max(bytes, targetBytesMin), targetBytesMax) }),
  };
}

/** Bytes of a size as Trino writes them: `512kB`. */
function sizeOf(text: string): number | undefined {
  const [, count = "", unit = ""] =
    /^\s*(\d{1,15}(?:\.\d{1,9})?)\s*([a-zA-Z]{1,2})\s*$/.exec(text) ?? [];
  const bytes = unitBytes.get(unit);
  return bytes === undefined ? undefined : Math.round(Number(count) * bytes);
}
