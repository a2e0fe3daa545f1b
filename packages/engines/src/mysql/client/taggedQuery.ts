/**
 * COM_QUERY of a short text behind its tag, which is another one for each query: written part by part. Joined before, they
 * would be a tree of texts, which is made flat by the runtime to be written.
 */
import { commentEnd, commentStart, tagJoint } from "@gateway/core/query/tag.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { commandCode, packetHeaderBytes } from "@gateway/wire/mysql/protocol.ts";

/** UTF-16 units. A longer one is written by the platform. */
const shortMax = 1_000;

/** Undefined for a text that is long, or has other characters than ASCII's. `head`: what stands between the code and the text. */
export function taggedQuery(
  { slot, id }: Pick<Identified, "slot" | "id">,
  text: string,
  head: Uint8Array | undefined,
): Uint8Array | undefined {
  if (text.length > shortMax) return undefined;
  const { holder } = slot;
  const start = startOf(head);
  const holderAt = start.length;
  const idAt = holderAt + holder.length + tagJoint.length;
  const endAt = idAt + id.length;
  const textAt = endAt + behindTag.length;
  const bytes = Buffer.allocUnsafe(textAt + text.length);
  for (let at = 0; at < holderAt; at += 1) bytes[at] = start[at] ?? 0;
  bytes[idAt - 1] = joint;
  for (let at = endAt; at < textAt; at += 1) bytes[at] = behindTag[at - endAt] ?? 0;
  if (!putAscii(bytes, holderAt, holder) || !putAscii(bytes, idAt, id)) return undefined;
  if (!putAscii(bytes, textAt, text)) return undefined;
  const payload = bytes.length - packetHeaderBytes;
  bytes[0] = payload & 0xff;
  bytes[1] = payload >> 8;
  return bytes;
}

const joint = tagJoint.charCodeAt(0);
const behindTag = Buffer.from(commentEnd);

let last: { readonly head: Uint8Array | undefined; readonly bytes: Uint8Array } | undefined;

/** Everything in front of who holds the slot. The packet's own head lacks its length. */
function startOf(head: Uint8Array | undefined): Uint8Array {
  if (last !== undefined && last.head === head) return last.bytes;
  const own = Uint8Array.of(0, 0, 0, 0, commandCode.query);
  const tag = Buffer.from(commentStart);
  const bytes = Buffer.concat(head === undefined ? [own, tag] : [own, head, tag]);
  last = { head, bytes };
  return bytes;
}

/** False where a character is none of ASCII: then what was put means nothing. */
function putAscii(bytes: Uint8Array, start: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return false;
    bytes[start + index] = code;
  }
  return true;
}
