/**
 * Going to a database: by the login, COM_INIT_DB and USE. The engine says where the session then stands;
 * an engine without USE is told with each statement. COM_FIELD_LIST asks what a table there has.
 */
import { gatewayError } from "@gateway/core/error.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import type { LocalAnswer } from "../commands/answer.ts";
import { isLike } from "../commands/filter.ts";
import { putFieldList } from "../encode.ts";
import { errorReply, ownErrors } from "../errors.ts";
import { forwardedSql } from "../read/forward.ts";
import { withSchema } from "../session/clientSession.ts";
import type { Responder } from "./responder.ts";
import type { AnswerForm } from "./resultSet.ts";

type UseWish = Pick<Extract<LocalAnswer, { kind: "use" }>, "sql" | "catalog" | "schema">;

/** Less than a client waits for its login, enough for an engine that is awake. */
const loginUseMsMax = 3000;
/** Characters of a long name that its error shows. */
const shownOfLong = 192;

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
  // No engine has such a name, and reading it would hold up others.
  if (wish.schema.length > longTextUnits)
    return responder.putError(ownErrors.unknownDatabase(wish.schema.slice(0, shownOfLong)));
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

/** COM_FIELD_LIST: the columns of a table, found without running anything. */
export async function putFields(
  responder: Responder,
  tableBytes: Uint8Array,
  wildcardBytes: Uint8Array,
): Promise<void> {
  const { decode, name: set } = responder.client.charset;
  const table = decode(tableBytes);
  const wildcard = decode(wildcardBytes);
  if (table === undefined || wildcard === undefined)
    return void responder.putError(ownErrors.notText(set));
  const sql = `SELECT * FROM "${table.replaceAll('"', '""')}"`;
  using running = responder.interruptible(sql);
  const query = responder.asked({ sql, parameters: [] });
  const described = await responder.door.describe(query, running.signal);
  if (!described.ok) return void responder.putError(errorReply(described.error, query.id));
  const pattern = wildcard === "" ? "%" : wildcard;
  const columns = described.value.columns.filter(({ name }) =>
    isLike(name.toLowerCase(), pattern.toLowerCase()),
  );
  putFieldList(responder.out, columns, table, responder.context(false));
}

/** The statement that goes to a database. */
function useStatement(schema: string): string {
  return `USE \`${schema.replaceAll("`", "``")}\``;
}
