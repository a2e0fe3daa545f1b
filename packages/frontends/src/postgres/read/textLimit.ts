/** How long the text of a message may be, and what the client is told of a longer one. */
import type { ListenerConfig, StatementLimits } from "@gateway/contract/config/listener.ts";
import type { FrameRule } from "@gateway/wire/postgres/frame.ts";
import { frontendTypes } from "@gateway/wire/postgres/frontend.ts";
import { shortMessageBytes } from "../../listener/messageRoom.ts";
import type { Violation } from "@gateway/wire/postgres/message.ts";

/** The fields of a listener's config that limit a text. */
export type TextLimits = Pick<ListenerConfig, "maxMessageBytes" | "maxStatementBytes">;

const queryType = 0x51;
const parseType = 0x50;
const bindType = 0x42;

/** Bytes of a Query beside its text: the length field and the NUL. */
const besideQuery = 5;
/** Bytes of a Parse beside its text: also a name and the types of 65,535 parameters. */
const besideParse = 4 * 65_535 + 1024;

/**
 * The frames of an open session. What comes of a longer text `longBytesMax` says, and a Parse near the limit is judged
 * again once its text is known.
 */
export function sessionRule({ maxMessageBytes, maxStatementBytes }: TextLimits): FrameRule {
  const short = Math.min(maxStatementBytes, shortMessageBytes);
  const typeMaxBytes = new Map([
    [queryType, Math.min(maxMessageBytes, short + besideQuery)],
    [parseType, Math.min(maxMessageBytes, short + besideParse)],
    [bindType, Math.min(maxMessageBytes, shortMessageBytes)],
  ]);
  return { types: frontendTypes, maxBytes: maxMessageBytes, typeMaxBytes };
}

/** True for a text of which the message surely had room. */
export function hasRoom(sql: string): boolean {
  return sql.length > shortMessageBytes + besideParse;
}

/** The longest frame of that type under these limits. */
export function longBytesMax(
  type: number,
  { maxStatementBytes }: StatementLimits,
  maxMessageBytes: number,
): number {
  if (type === bindType) return maxMessageBytes;
  return maxStatementBytes + (type === queryType ? besideQuery : besideParse);
}

/** The violation of a message that was skipped for its length. */
export function textTooLarge(
  { type, length }: { readonly type: number; readonly length: number },
  limit: number | undefined,
): Violation {
  return { kind: "textTooLarge", what: type === queryType ? "Query" : "Parse", length, limit };
}

/** True for a text of more than `bytesMax` bytes, which are counted only where its length leaves that open. */
export function isLonger(sql: string, bytesMax: number): boolean {
  if (sql.length * 3 <= bytesMax) return false;
  return sql.length > bytesMax || Buffer.byteLength(sql) > bytesMax;
}
