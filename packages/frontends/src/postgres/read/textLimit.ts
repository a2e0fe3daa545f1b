/** How long the text of a message may be, and what the client is told of a longer one. */
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import type { FrameRule } from "@gateway/wire/postgres/frame.ts";
import { frontendTypes } from "@gateway/wire/postgres/frontend.ts";
import type { Violation } from "@gateway/wire/postgres/message.ts";

/** The fields of a listener's config that limit a text. */
export type TextLimits = Pick<ListenerConfig, "maxMessageBytes" | "maxStatementBytes">;

const queryType = 0x51;
const parseType = 0x50;

/** Bytes of a Query beside its text: the length field and the NUL. */
const besideQuery = 5;
/** Bytes of a Parse beside its text: also a name and the types of 65,535 parameters. */
const besideParse = 4 * 65_535 + 1024;

/** The frames of an open session. A Parse near the limit is judged again once its text is known. */
export function sessionRule({ maxMessageBytes, maxStatementBytes }: TextLimits): FrameRule {
  const typeMaxBytes = new Map([
    [queryType, Math.min(maxMessageBytes, maxStatementBytes + besideQuery)],
    [parseType, Math.min(maxMessageBytes, maxStatementBytes + besideParse)],
  ]);
  return { types: frontendTypes, maxBytes: maxMessageBytes, typeMaxBytes };
}

/** The violation of a message that was skipped for its length. */
export function textTooLarge(
  { type, length }: { readonly type: number; readonly length: number },
  { maxStatementBytes: limit }: TextLimits,
): Violation {
  return { kind: "textTooLarge", what: type === queryType ? "Query" : "Parse", length, limit };
}

/** True for a text of more than `bytesMax` bytes, which are counted only where its length leaves that open. */
export function isLonger(sql: string, bytesMax: number): boolean {
  if (sql.length * 3 <= bytesMax) return false;
  return sql.length > bytesMax || Buffer.byteLength(sql) > bytesMax;
}
