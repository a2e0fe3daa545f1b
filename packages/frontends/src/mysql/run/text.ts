/** The text of a command, as the client's character set says, and read where it is long. */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { areLong } from "../../listener/longBytes.ts";
import { longTexts } from "../../listener/longTexts.ts";
import type { Conversation } from "./conversation.ts";
import { errorReply, ownErrors } from "../errors.ts";
import { forwardedAhead } from "../read/forward.ts";

/** A text, or why there is none. */
export type Text = Result<string, ErrorReply>;

/** A promise only for a long text, which others take turns with. */
export function textOf(talk: Conversation, bytes: Uint8Array): Text | Promise<Text> {
  if (areLong(bytes)) return longTextOf(talk, bytes);
  const sql = talk.client.charset.decode(bytes);
  return sql === undefined ? err(ownErrors.notUtf8()) : admitted(talk, sql);
}

async function longTextOf(talk: Conversation, bytes: Uint8Array): Promise<Text> {
  const { client, connection, host } = talk;
  const who = { user: client.session.identity.user, client: connection };
  const decoded = await longTexts.decode(bytes, client.charset.decode, who, host.slices);
  if (!decoded.ok) return err(errorReply(decoded.error));
  const { text } = decoded.value;
  return text === undefined ? err(ownErrors.notUtf8()) : await admitted(talk, text);
}

function admitted({ client, connection, host }: Conversation, sql: string): Text | Promise<Text> {
  const { user } = client.session.identity;
  const limits = connection.config;
  const text = {
    sql,
    dialect: "mysql",
    also: forwardedAhead,
    limits,
    user,
    client: connection,
  } as const;
  const reading = longTexts.admit(text, host.slices);
  if (reading === undefined) return ok(sql);
  return reading.then((refusal) => (refusal === undefined ? ok(sql) : err(errorReply(refusal))));
}

/** The statement that goes to a database. */
export function useStatement(schema: string): string {
  return `USE \`${schema.replaceAll("`", "``")}\``;
}
