/**
 * Texts of clients under `utf8`, which is utf8mb3, with characters of four bytes in them. Such a client can write one
 * as two halves of three bytes only (CESU-8), which a server takes for two characters: it gives them back as they
 * are, and refuses to store or to convert them, or to have them in a name. On a connection of utf8mb4 they would be one
 * character, which the literal's own set has not, and a question mark would be stored without a word. So such a text goes
 * on as its client wrote it, and its connection stands under utf8mb3 for it.
 */
import type { MysqlExecution } from "@gateway/core/query/mysqlCall.ts";
import type { ResultsName } from "@gateway/wire/mysql/charset/characterSet.ts";
import { commandPackets } from "./packets.ts";

/** In the place of `utf8mb3` as the set of a connection's answers: it reads in it as well. */
export const halves = "halves";

/** What a connection answers in, and reads in where that is `halves`. */
export type Standing = ResultsName | typeof halves;

/** The standing that a text needs whose client reads this set. */
export function standingFor(results: ResultsName, text: string): Standing {
  return results === "utf8mb3" && /[\ud800-\udbff]/.test(text) ? halves : results;
}

/** The standing that an execution needs: a value with such a character in it goes on as it came, in halves or whole. */
export function standingOf(
  results: ResultsName,
  text: string,
  execution: Pick<MysqlExecution, "body" | "longData"> | undefined,
): Standing {
  const standing = standingFor(results, text);
  if (results !== "utf8mb3" || standing === halves || execution === undefined) return standing;
  const isHalved = isBeyond(execution.body) || [...execution.longData.values()].some(isBeyond);
  return isHalved ? halves : standing;
}

/** Whether such a character may be in it. A number may look like one, for which its client's own set does no harm. */
function isBeyond(bytes: Uint8Array): boolean {
  return leads.some(([lead, least]) => {
    for (let at = bytes.indexOf(lead); at >= 0; at = bytes.indexOf(lead, at + 1)) {
      const next = bytes[at + 1] ?? 0;
      if (next >= least && next < 0xc0) return true;
    }
    return false;
  });
}

/** A command with a text, written as the connection reads it. `head`: what stands between the code and the text. */
export function textPackets(
  { results }: { readonly results: Standing | undefined },
  code: number,
  text: string,
  head?: Uint8Array,
): Uint8Array {
  return results === halves ? halvesPackets(code, text, head) : commandPackets(code, text, head);
}

/** The same with a text in halves. */
export function halvesPackets(code: number, text: string, head?: Uint8Array): Uint8Array {
  const bytes = halvesOf(text);
  return commandPackets(code, "", head === undefined ? bytes : Buffer.concat([head, bytes]));
}

function halvesOf(text: string): Uint8Array {
  const whole = Buffer.from(text);
  const count = whole.reduce((found, byte) => (byte >= fourBytes ? found + 1 : found), 0);
  const bytes = Buffer.allocUnsafe(whole.length + 2 * count);
  let end = 0;
  for (let at = 0; at < whole.length; at += 1) {
    const byte = whole[at] ?? 0;
    if (byte < fourBytes) {
      bytes[end] = byte;
      end += 1;
      continue;
    }
    // Eleven bits of the code less 0x10000, whose first five stand in the first two bytes, and ten.
    const second = whole[at + 1] ?? 0;
    const third = whole[at + 2] ?? 0;
    const plane = (((byte & 0x07) << 2) | ((second >> 4) & 0x03)) - 1;
    const high = (plane << 6) | ((second & 0x0f) << 2) | ((third >> 4) & 0x03);
    const low = ((third & 0x0f) << 6) | ((whole[at + 3] ?? 0) & 0x3f);
    putHalf(bytes, end, 0xd800 | high);
    putHalf(bytes, end + 3, 0xdc00 | low);
    end += 6;
    at += 3;
  }
  return bytes;
}

/** The first bytes of halves and of characters of four bytes, and the least of their second. */
const leads = [
  [0xed, 0xa0],
  [0xf0, 0x90],
  [0xf1, 0x80],
  [0xf2, 0x80],
  [0xf3, 0x80],
  [0xf4, 0x80],
] as const;
/** The first byte of a character of four, and none of any other. */
const fourBytes = 0xf0;

function putHalf(bytes: Uint8Array, at: number, unit: number): void {
  bytes[at] = 0xe0 | (unit >> 12);
  bytes[at + 1] = 0x80 | ((unit >> 6) & 0x3f);
  bytes[at + 2] = 0x80 | (unit & 0x3f);
}
