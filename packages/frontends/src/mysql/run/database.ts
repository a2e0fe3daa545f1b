/**
 * Going to a database: by the login, COM_INIT_DB and USE. The engine says where the session then stands;
 * an engine without USE is told with each statement.
 */
import { gatewayError } from "@gateway/core/error.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import type { LocalAnswer } from "../commands/answer.ts";
import { errorReply, ownErrors } from "../errors.ts";
import { forwardedSql } from "../read/forward.ts";
import { withSchema } from "../session/clientSession.ts";
import type { Responder } from "./responder.ts";
import type { AnswerForm } from "./resultSet.ts";

type UseWish = Pick<Extract<LocalAnswer, { kind: "use" }>, "sql" | "catalog" | "schema">;

/** Less than a client waits for its login, enough for an engine that is awake. */
const loginUseMsMax = 3000;

/**
 * Goes to the database named in the login. The error where the engine says that there is none; any
 * other failure, and an engine that takes too long, is told by the first statement that needs it.
 */
export async function findDatabase(responder: Responder): Promise<ErrorReply | undefined> {
  const { schema } = responder.client.session;
  const text = forwardedSql(useStatement(schema ?? ""));
  if (schema === undefined || !text.ok) return undefined;
  const stop = () => responder.cancel(gatewayError("query.timeout"));
  using _limit = responder.host.clock.timer(loginUseMsMax, stop);
  const error = await responder.runQuietly(text.value);
  responder.told();
  return error?.code === "query.unknownObject" ? ownErrors.unknownDatabase(schema) : undefined;
}

/** COM_INIT_DB. */
export async function initDatabase(responder: Responder, bytes: Uint8Array): Promise<void> {
  const { client } = responder;
  const schema = client.charset.decode(bytes);
  if (schema === undefined || schema === "") return void responder.putError(ownErrors.noDatabase());
  const wish = { sql: useStatement(schema), catalog: client.session.catalog, schema };
  await useDatabase(responder, wish, { rows: "text", moreFollow: false });
}

/** USE. False when it failed. */
export async function useDatabase(
  responder: Responder,
  wish: UseWish,
  form: AnswerForm,
): Promise<boolean> {
  const text = forwardedSql(wish.sql);
  if (!text.ok) return responder.putError(text.error);
  const error = await responder.runQuietly(text.value);
  if (error?.code === "query.unknownObject") {
    return responder.putError(ownErrors.unknownDatabase(wish.schema));
  }
  if (error !== undefined && error.code !== "query.unsupported") {
    return responder.putError(errorReply(error));
  }
  if (error !== undefined) {
    responder.client = withSchema(responder.client, wish.catalog, wish.schema);
  }
  responder.client = { ...responder.client, rowCount: 0 };
  responder.putOk(form.moreFollow);
  return true;
}

/** The statement that goes to a database. */
function useStatement(schema: string): string {
  return `USE \`${schema.replaceAll("`", "``")}\``;
}
