/** The text of a command, decoded from the client's character set. A long one is also read ahead, in turns with others. */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { areLong } from "../../listener/longBytes.ts";
import { longTexts } from "../../listener/longTexts.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";
import type { Responder } from "./responder.ts";
import { errorReply, ownErrors } from "../errors.ts";
import { forwardedAhead } from "../read/forward.ts";
import { sessionWordsAhead } from "../read/sessionWords.ts";
import { hasVariables } from "./userVariables.ts";

/** A text, or why there is none. */
export type Text = Result<string, ErrorReply>;

/** A promise only for a long text, which others take turns with. */
export function textOf(responder: Responder, bytes: Uint8Array): Text | Promise<Text> {
  if (areLong(bytes)) return longTextOf(responder, bytes);
  const sql = responder.client.charset.decode(bytes);
  return sql === undefined ? err(ownErrors.notUtf8()) : admitted(responder, sql);
}

async function longTextOf(responder: Responder, bytes: Uint8Array): Promise<Text> {
  const { client, connection, host } = responder;
  const who = { user: client.session.identity.user, client: connection };
  const decoded = await longTexts.decode(bytes, client.charset.decode, who, host.slices);
  if (!decoded.ok) return err(errorReply(decoded.error));
  const { text } = decoded.value;
  return text === undefined ? err(ownErrors.notUtf8()) : await admitted(responder, text);
}

function admitted({ client, connection, host }: Responder, sql: string): Text | Promise<Text> {
  const { user } = client.session.identity;
  const limits = connection.config;
  const text = {
    sql,
    dialect: "mysql",
    also: (long: string) => aheadOf(long, hasVariables(client.settings)),
    limits,
    user,
    client: connection,
  } as const;
  const reading = longTexts.admit(text, host.slices);
  if (reading === undefined) return ok(sql);
  return reading.then((refusal) => (refusal === undefined ? ok(sql) : err(errorReply(refusal))));
}

function* aheadOf(text: string, hasOwn: boolean): Steps<boolean> {
  return (yield* forwardedAhead(text)) && (yield* sessionWordsAhead(text, hasOwn));
}
