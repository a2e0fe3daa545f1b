/**
 * What a question about the engine's tables is answered by where the engine does not know what it is
 * asked: by less, or by the tables that the door lists.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type { TableListing } from "@gateway/core/port/backend.ts";
import { forwardedStatement } from "../read/reading.ts";
import type { Responder } from "./responder.ts";
import type { AskedRows, LocalAnswer } from "../commands/answer.ts";

/** How an engine says that it does not list something. */
const notKnown: ReadonlySet<GatewayError["code"]> = new Set([
  "query.invalid",
  "query.syntax",
  "query.unknownObject",
  "query.unsupported",
]);

/** What routers and policies see of a listing: no text of the client, which the engine may read otherwise. */
const listingSql = "SELECT * FROM information_schema.tables";

/** The other answer; undefined where the engine's error is the answer. */
export async function answerInstead(
  responder: Responder,
  asked: Pick<AskedRows, "listed" | "orElse">,
  { code }: GatewayError,
): Promise<LocalAnswer | undefined> {
  const isUnknown = notKnown.has(code);
  if (isUnknown && asked.orElse !== undefined) return asked.orElse();
  // Drivers nobody knows have no code for what their engine does not have.
  if (asked.listed === undefined || !(isUnknown || code === "engine.failed")) return undefined;
  const tables = await tablesOf(responder);
  return tables && asked.listed(tables);
}

/**
 * Undefined where they can not be listed. A transaction is not left for it: its slot may be the one that
 * the listing would wait for.
 */
async function tablesOf(responder: Responder): Promise<readonly TableListing[] | undefined> {
  const { door, client } = responder;
  if (client.session.pin !== undefined) return undefined;
  using running = responder.interruptible(listingSql);
  const query = door.query(forwardedStatement(listingSql), [], client.session);
  const scope = await door.tables(query, running.signal);
  const tables = scope.ok ? await scope.value.list(running.signal) : scope;
  return tables.ok ? tables.value : undefined;
}
