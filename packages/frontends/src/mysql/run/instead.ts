/**
 * Answers a question about tables where the engine does not know what it is asked: with less, or with
 * the tables that the door lists.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type { TableListing } from "@gateway/core/port/backend.ts";
import type { Responder } from "./responder.ts";
import type { AskedRows, LocalAnswer } from "../commands/answer.ts";

/** Errors by which an engine says that it does not list something. */
const notKnown: ReadonlySet<GatewayError["code"]> = new Set([
  "query.invalid",
  "query.syntax",
  "query.unknownObject",
  "query.unsupported",
]);

/** What routers and policies see of a listing. The client's text is not used: the engine may read it otherwise. */
const listingSql = "SELECT * FROM information_schema.tables";

/** The other answer; undefined where the engine's error is the answer. */
export async function answerInstead(
  responder: Responder,
  asked: Pick<AskedRows, "listed" | "orElse">,
  { code }: GatewayError,
): Promise<LocalAnswer | undefined> {
  const isUnknown = notKnown.has(code);
  if (isUnknown && asked.orElse !== undefined) return asked.orElse();
  // A driver without codes of its own reports what its engine lacks as any other failure.
  if (asked.listed === undefined || !(isUnknown || code === "engine.failed")) return undefined;
  const tables = await tablesOf(responder);
  return tables && asked.listed(tables);
}

/**
 * Undefined where they can not be listed. Nothing is listed in a transaction, because the listing might
 * wait for the very slot that the transaction holds.
 */
async function tablesOf(responder: Responder): Promise<readonly TableListing[] | undefined> {
  const { door, client } = responder;
  if (client.session.pin !== undefined) return undefined;
  using running = responder.interruptible(listingSql);
  const query = responder.asked({ sql: listingSql, parameters: [] });
  const scope = await door.tables(query, running.signal);
  const tables = scope.ok ? await scope.value.list(running.signal) : scope;
  return tables.ok ? tables.value : undefined;
}
