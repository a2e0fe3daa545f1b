/** COPY between a client and a server that speak the same protocol: its data passes as it is, both ways. */
import { settled } from "@gateway/core/query/course.ts";
import type { CopyPiece, CopySource } from "@gateway/core/query/query.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { Conversation, Outcome } from "./conversation.ts";

const copyOutLetter = 0x48;

/** What tells the client that data follows. */
export function copyHead(body: Uint8Array): ResultEvent {
  const bytes = Buffer.alloc(5 + body.length);
  bytes[0] = copyOutLetter;
  bytes.writeInt32BE(4 + body.length, 1);
  bytes.set(body, 5);
  return { kind: "columns", columns: [], native: { format: "postgresCopy", bytes } };
}

/** What a copy needs to know of its statement. */
export interface Copying {
  readonly copy: CopySource | undefined;
  readonly simple: boolean;
}

/**
 * Hands the client's data to the server until either ends it. The server may refuse a line at any time, and is
 * then not sent the rest.
 */
export async function copyIn(
  talk: Conversation,
  { copy, simple }: Copying,
  head: Uint8Array,
): Promise<Outcome> {
  const { member } = talk;
  if (copy === undefined) return { kind: "failed", error: gatewayError("query.unsupported") };
  copy.begin(head);
  let answer: Outcome | undefined;
  let ended = false;
  const answered = outcomeOf(talk).then((outcome) => {
    answer = outcome;
    copy.stop();
    return outcome;
  });
  for (;;) {
    const piece: CopyPiece = await copy.next();
    if (answer !== undefined || piece.kind === "left") break;
    if (piece.kind === "data") {
      member.put({ kind: "copyData", body: piece.bytes });
      member.flush();
      await member.sent();
      continue;
    }
    if (piece.kind === "done") member.put({ kind: "copyDone" });
    else member.put({ kind: "copyFail", reason: piece.reason });
    ended = true;
    break;
  }
  if (answer === undefined && !ended) member.put({ kind: "copyFail", reason: "the client left" });
  // The server passed over the Sync that came with the statement.
  if (!simple) member.put({ kind: "sync" });
  member.flush();
  return await answered;
}

async function outcomeOf(talk: Conversation): Promise<Outcome> {
  const outcome = await settled(talk.rows(undefined));
  if (outcome.kind === "rows") throw new Error("rows where none were asked for");
  return outcome;
}
