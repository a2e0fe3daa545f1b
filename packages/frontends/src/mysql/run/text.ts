/**
 * The text of a command, decoded from the client's character set, with escapes in its strings whatever the session's
 * mode. A long one is also read ahead, in turns with others.
 */
import { gatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { areLong, type Decode, type Decoding } from "../../listener/longBytes.ts";
import { longTexts } from "../../listener/longTexts.ts";
import { inOneGo, type Steps } from "@gateway/core/sql/reading/steps.ts";
import { toEscaping } from "@gateway/core/sql/rewrite/backslashes.ts";
import type { Responder } from "./responder.ts";
import { errorReply, ownErrors } from "../errors.ts";
import type { Charset } from "../session/charset.ts";
import { hasPlainBackslashes } from "../session/clientSession.ts";
import { forwardedAhead } from "../read/forward.ts";
import { sessionWordsAhead } from "../read/sessionWords.ts";
import { hasVariables } from "./userVariables.ts";

/** A text, or why there is none. */
export type Text = Result<string, ErrorReply>;

/** A promise only for a long text, which others take turns with. */
export function textOf(responder: Responder, bytes: Uint8Array): Text | Promise<Text> {
  if (areLong(bytes)) return longTextOf(responder, bytes);
  const { decode, name } = responder.client.charset;
  const sql = decode(bytes);
  if (sql === undefined) return err(ownErrors.notText(name));
  if (!hasPlainBackslashes(responder.client)) return admitted(responder, sql);
  const text = inOneGo(toEscaping(sql));
  return text === undefined ? err(otherwiseRead) : admitted(responder, text);
}

/** A text under NO_BACKSLASH_ESCAPES that has no form without. */
const otherwiseRead = ownErrors.notSupported("this text under NO_BACKSLASH_ESCAPES");

/** In pieces that end where characters do. */
function decodingOf({ decode, pieceEnd }: Charset): Decode | Decoding {
  return pieceEnd === undefined ? decode : { decode, pieceEnd };
}

async function longTextOf(responder: Responder, bytes: Uint8Array): Promise<Text> {
  const { client, connection, host } = responder;
  const who = { user: client.session.identity.user, client: connection };
  const decoded = await longTexts.decode(bytes, decodingOf(client.charset), who, host.slices);
  if (!decoded.ok) return err(errorReply(decoded.error));
  const { text } = decoded.value;
  if (text === undefined) return err(ownErrors.notText(client.charset.name));
  if (!hasPlainBackslashes(client)) return await admitted(responder, text);
  const steps = toEscaping(text);
  const escaping = await host.slices.run({ steps, ...who });
  if (connection.over) return err(errorReply(gatewayError("query.cancelled")));
  return escaping === undefined ? err(otherwiseRead) : await admitted(responder, escaping);
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
