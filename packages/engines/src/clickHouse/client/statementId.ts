/** The tag of a statement as its id in the server, and as that stands in an address. */
import type { Identified, QueryId } from "@gateway/core/query/query.ts";
import { statementTag } from "@gateway/core/query/tag.ts";
import { encodedText, type EncodedText } from "../../connect/http1/request.ts";

export interface StatementId {
  readonly queryId: string;
  readonly encodedId: EncodedText;
}

/** Tags of one holder differ behind their stem alone. */
let lastHolder: string | undefined;
let stem = "";
let encodedStem = "";

export function statementId({ slot, id }: Pick<Identified, "slot" | "id">): StatementId {
  if (slot.holder !== lastHolder) {
    stem = statementTag({ slot, id: "" as QueryId });
    encodedStem = encodedText(stem);
    lastHolder = slot.holder;
  }
  const queryId = stem + id;
  const encodedId = isPlain(id) ? ((encodedStem + id) as EncodedText) : encodedText(queryId);
  return { queryId, encodedId };
}

/** Letters, digits, `-` and `_` stand in an address as they are. By codes: an expression takes longer than its text. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isDigit = code >= 0x30 && code <= 0x39;
    const letter = code | 0x20;
    const isLetter = letter >= 0x61 && letter <= 0x7a && code < 0x80;
    if (!isDigit && !isLetter && code !== 0x2d && code !== 0x5f) return false;
  }
  return true;
}
