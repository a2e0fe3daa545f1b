/** How long the texts of messages may be, and what a message is whose text is longer. */
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import type { FrameRule } from "@gateway/wire/postgres/frame.ts";
import { frontendTypes } from "@gateway/wire/postgres/frontend.ts";
import type { Violation } from "@gateway/wire/postgres/message.ts";

/** What of a listener's config limits a text. */
export type TextLimits = Pick<ListenerConfig, "maxMessageBytes" | "maxStatementBytes">;

const queryType = 0x51;
const parseType = 0x50;

/** Of a Query: its length field and the NUL behind the text. */
const besideQuery = 5;
/** Of a Parse: also a name and the types of 65,535 parameters. */
const besideParse = 4 * 65_535 + 1024;

/** What may come in a session. A Parse near the limit is judged again when its text is known. */
export function sessionRule({ maxMessageBytes, maxStatementBytes }: TextLimits): FrameRule {
  const typeMaxBytes = new Map([
    [queryType, Math.min(maxMessageBytes, maxStatementBytes + besideQuery)],
    [parseType, Math.min(maxMessageBytes, maxStatementBytes + besideParse)],
  ]);
  return { types: frontendTypes, maxBytes: maxMessageBytes, typeMaxBytes };
}

/** A message that was passed over for its length. */
export function textTooLarge(
  { type, length }: { readonly type: number; readonly length: number },
  { maxStatementBytes: limit }: TextLimits,
): Violation {
  return { kind: "textTooLarge", what: type === queryType ? "Query" : "Parse", length, limit };
}

/** True for a text that is longer; its bytes are counted only where its length leaves it open. */
export function isLonger(sql: string, bytesMax: number): boolean {
  if (sql.length * 3 <= bytesMax) return false;
  return sql.length > bytesMax || Buffer.byteLength(sql) > bytesMax;
}
