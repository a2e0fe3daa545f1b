/** Makes proxy query ids: `20260101_235959_00042_k3v9x2m`, sortable by time, unique over a fleet. */
import type { Host } from "../port/host.ts";
import type { QueryId } from "../query/query.ts";
import { CountedText } from "../tool/countedText.ts";

const alphabet = "0123456789abcdefghijkmnpqrstuvwxyz";
const suffixLength = 8;
const countMax = 99_999;

/** Returns a maker whose ids differ from those of every other maker by a random suffix. */
export function queryIds(host: Host): (unixMs?: number) => QueryId {
  const suffix = [...host.randomBytes(suffixLength)]
    .map((byte) => alphabet[byte % alphabet.length])
    .join("");
  let count = 0;
  let second = -1;
  let texts: CountedText | undefined;
  return (unixMs = host.clock.unixMs()) => {
    const now = Math.floor(unixMs / 1000);
    // The count never starts again inside a second unless 100,000 ids were made in it.
    if (count === countMax) count = 0;
    if (texts === undefined || now !== second || count === 0) {
      second = now;
      const before = String(count).padStart(5, "0");
      texts = new CountedText(`${stampOf(unixMs)}_`, before, `_${suffix}`, 10);
    }
    count += 1;
    return texts.next() as QueryId;
  };
}

function stampOf(unixMs: number): string {
  const iso = new Date(unixMs).toISOString();
  const date = iso.slice(0, 10).replaceAll("-", "");
  return `${date}_${iso.slice(11, 19).replaceAll(":", "")}`;
}
