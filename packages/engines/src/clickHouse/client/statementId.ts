/** The tag of a statement as its id in the server, and as that stands in an address. */
import type { Identified } from "@gateway/core/query/query.ts";
import { statementTag } from "@gateway/core/query/tag.ts";
import { encodedText, type EncodedText } from "../../connect/http1/request.ts";

export interface StatementId {
  readonly queryId: string;
  readonly encodedId: EncodedText;
}

export function statementId(query: Pick<Identified, "slot" | "id">): StatementId {
  const queryId = statementTag(query);
  // Its parts and not the tag, which would be made flat for it.
  const isPlain = standsAsItIs(query.slot.holder) && standsAsItIs(query.id);
  return { queryId, encodedId: isPlain ? (queryId as EncodedText) : encodedText(queryId) };
}

/**
 * Letters, digits, `-`, `.`, `_` and `/` mean themselves in the query of an address (RFC 3986 §3.4). By codes: an expression, or
 * encoding the text, takes several times as long.
 */
function standsAsItIs(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const letter = code | 0x20;
    const isLetter = letter >= 0x61 && letter <= 0x7a && code < 0x80;
    // From `-` on come the dot, the slash and the digits.
    const isOther = (code >= 0x2d && code <= 0x39) || code === 0x5f;
    if (!isLetter && !isOther) return false;
  }
  return true;
}
