/**
 * What Trino refuses of statements that begin and end transactions, for every engine: its clients believe an
 * answer that says success. Beginning and ending itself is the pipeline's.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { failure, type Handling } from "../read/handling.ts";
import type { TokenReader } from "../read/tokens.ts";
import type { TrinoSession } from "../session/session.ts";

/** The refusal of a statement that begins with `word`, the next one of the reader; undefined when it may run. */
export function transactionRefusal(
  word: "START" | "BEGIN" | "COMMIT" | "ROLLBACK",
  reader: TokenReader,
  { transactionId, knowsTransactions }: TrinoSession,
): Handling | undefined {
  const within = transactionId !== undefined;
  if (word === "COMMIT" || word === "ROLLBACK") return within ? undefined : failure(noTransaction);
  // A client that can not send the id back could never end what it began.
  if (!knowsTransactions) return failure(noTransactions);
  if (within) return failure(nested);
  const twice = saidTwice(reader);
  return twice === undefined ? undefined : failure(twice);
}

/** Two modes of one kind contradict each other, or say nothing. */
function saidTwice(reader: TokenReader): GatewayError | undefined {
  const position = reader.peek().end - reader.peek().text.length + 1;
  let isolations = 0;
  let reads = 0;
  for (let text = reader.take().text; text !== ""; { text } = reader.take()) {
    if (/^isolation$/i.test(text)) isolations += 1;
    if (/^(?:only|write)$/i.test(text)) reads += 1;
  }
  const kind = isolations > 1 ? "isolation levels" : reads > 1 ? "read modes" : undefined;
  if (kind === undefined) return undefined;
  return gatewayError("query.syntax", {
    message: `Multiple transaction ${kind} specified`,
    position,
  });
}

const noTransaction = gatewayError("query.transaction", { message: "No transaction in progress" });

const nested = gatewayError("query.unsupported", { message: "Nested transactions not supported" });

const noTransactions = gatewayError("query.unsupported", {
  message: "Client does not support transactions",
});
