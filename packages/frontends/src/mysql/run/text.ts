/**
 * The text of a command, decoded from the client's character set, with escapes in its strings whatever the session's
 * mode. A long one is also read ahead, in turns with others.
 */
import { gatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { areLong, type Decode, type Decoding } from "../../listener/longBytes.ts";
import { isReadAtOnce, longTexts } from "../../listener/longTexts.ts";
import { shortMessageBytes } from "../../listener/messageRoom.ts";
import { limitsOf } from "../../listener/statementLimits.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import { inOneGo, type Steps } from "@gateway/core/sql/reading/steps.ts";
import { toEscaping } from "@gateway/core/sql/rewrite/backslashes.ts";
import { hasCode, passesTexts, relays } from "./relaying.ts";
import type { Responder } from "./responder.ts";
import { errorReply, ownErrors } from "../errors.ts";
import type { Charset } from "../session/charset.ts";
import { hasPlainBackslashes } from "../session/clientSession.ts";
import { forwardedAhead } from "../read/forward.ts";
import { withoutRawLiterals } from "../read/rawLiterals.ts";
import { setStatementsAhead } from "../read/setStatement.ts";
import { sessionWordsAhead } from "../read/sessionWords.ts";
import { hasVariables } from "./userVariables.ts";

/** A text, or why there is none. */
export type Text = Result<string, ErrorReply>;

/** A promise only for a long text, which others take turns with. */
export function textOf(responder: Responder, bytes: Uint8Array): Text | Promise<Text> {
  if (areLong(bytes)) return longTextOf(responder, bytes);
  const { decode, name } = responder.client.charset;
  const sql = decode(bytes) ?? inOneGo(rawTextOf(responder, bytes));
  if (sql === undefined) return err(ownErrors.notText(name));
  if (!hasPlainBackslashes(responder.client)) return admitted(responder, sql);
  const text = inOneGo(toEscaping(sql));
  return text === undefined ? err(otherwiseRead) : admitted(responder, text);
}

/** The text of bytes of which some are none; undefined where only a server could read them. */
function* rawTextOf(responder: Responder, bytes: Uint8Array): Steps<string | undefined> {
  const { client } = responder;
  const { name, decode } = client.charset;
  if (!rawSets.has(name) || hasPlainBackslashes(client) || !relays(responder)) return undefined;
  return yield* withoutRawLiterals(bytes, decode);
}

/** In which every byte below 128 is itself, and others may be no text. */
const rawSets: ReadonlySet<string> = new Set(["utf8mb4", "utf8mb3", "ascii", "binary"]);

/** A text under NO_BACKSLASH_ESCAPES that has no form without. */
const otherwiseRead = ownErrors.notSupported("this text under NO_BACKSLASH_ESCAPES");

/** In pieces that end where characters do. */
function decodingOf({ decode, pieceEnd }: Charset): Decode | Decoding {
  return pieceEnd === undefined ? decode : { decode, pieceEnd };
}

async function longTextOf(responder: Responder, bytes: Uint8Array): Promise<Text> {
  const { client, connection, host } = responder;
  const who = {
    user: client.session.identity.user,
    client: connection,
    hasRoom: bytes.length > shortMessageBytes,
  };
  const decoded = await longTexts.decode(bytes, decodingOf(client.charset), who, host.slices);
  if (!decoded.ok) return err(errorReply(decoded.error));
  const text =
    decoded.value.text ?? (await host.slices.run({ steps: rawTextOf(responder, bytes), ...who }));
  if (text === undefined) return err(ownErrors.notText(client.charset.name));
  const { maxStatementBytes: limit } = limitsOf(connection.config, passes(responder, text));
  // Bytes in hex are twice as many.
  if (Math.max(bytes.length, text.length) > limit) return err(ownErrors.textTooLarge(limit));
  if (!hasPlainBackslashes(client)) return await admitted(responder, text, who.hasRoom);
  const steps = toEscaping(text);
  const escaping = await host.slices.run({ steps, ...who });
  if (connection.over) return err(errorReply(gatewayError("query.cancelled")));
  return escaping === undefined
    ? err(otherwiseRead)
    : await admitted(responder, escaping, who.hasRoom);
}

/** Looked at only for a long text. */
function passes(responder: Responder, text: string): boolean {
  return passesTexts(responder) && !hasCode(text);
}

function admitted(responder: Responder, sql: string, room = false): Text | Promise<Text> {
  const { client, connection, host } = responder;
  const { user } = client.session.identity;
  const isLong = sql.length > longTextUnits;
  // Most are: nothing is made for them.
  if (!isLong && isReadAtOnce(sql, connection.config)) return ok(sql);
  const isOwn = isLong && relays(responder) && !hasCode(sql);
  const text = {
    sql,
    dialect: "mysql",
    also: (long: string) => aheadOf(long, hasVariables(client.settings), isOwn),
    limits: limitsOf(connection.config, isLong && passes(responder, sql)),
    user,
    client: connection,
    hasRoom: room,
  } as const;
  const reading = longTexts.admit(text, host.slices);
  if (reading === undefined) return ok(sql);
  return reading.then((refusal) => (refusal === undefined ? ok(sql) : err(errorReply(refusal))));
}

/** `isOwn`: it goes on in the client's own words, and is written anew for nobody. */
function* aheadOf(text: string, hasOwn: boolean, isOwn: boolean): Steps<boolean> {
  yield* isOwn ? setStatementsAhead(text) : forwardedAhead(text);
  return yield* sessionWordsAhead(text, hasOwn);
}
