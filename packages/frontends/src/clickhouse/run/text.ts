/** The text of a statement out of address and body, read and admitted; and whether rows follow in the body. */
import { isUtf8 } from "node:buffer";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { SignalledClient } from "@gateway/core/tool/canceller.ts";
import { areLong, type DecodingClient } from "../../listener/longBytes.ts";
import { longTexts, type LongText } from "../../listener/longTexts.ts";
import { hasBody, readBody, unpacked } from "../read/body.ts";
import { firstWords } from "../read/firstWords.ts";
import { formatReading } from "../read/formatClause.ts";
import { insertForm } from "../read/insertForm.ts";
import type { Asked, Served } from "./statement.ts";

/** A statement as its client wrote it. */
export interface Text {
  /** Without its `FORMAT` clause. */
  readonly sql: string;
  readonly format: string | undefined;
  /** Rows stand behind it in the body, which nobody has read. */
  readonly body: "rows" | undefined;
}

type Read = Result<Text, GatewayError>;

/**
 * Reads it; undefined when the client left. The field `query` is the start of the text and the body its rest, but for
 * an `INSERT` whose rows the body holds. A promise only where something is waited for.
 */
export function textOf(asked: Asked, served: Served): MayWait<Read | undefined> {
  const { request, fields } = asked;
  const start = fields.query === undefined ? undefined : `${fields.query}\n`;
  const type = request.headers["content-type"];
  if (type !== undefined && multipart.test(type)) {
    const message = "external tables and fields in a multipart body are not taken";
    return err(gatewayError("query.unsupported", { message }));
  }
  if (!hasBody(request)) return wholeOf(ok(""), asked, served);
  if (start !== undefined && bringsRows(start)) {
    return admitted(fields.query ?? "", asked, served, "rows");
  }
  const rest = restOf(asked, served);
  if (rest instanceof Promise) return rest.then((came) => wholeOf(came, asked, served));
  return wholeOf(rest, asked, served);
}

type MayWait<Value> = Value | Promise<Value>;
type Rest = Result<string, GatewayError> | undefined;

function wholeOf(rest: Rest, asked: Asked, served: Served): MayWait<Read | undefined> {
  if (rest === undefined || !rest.ok) return rest;
  const { query } = asked.fields;
  const sql = query === undefined ? rest.value : `${query}${rest.value && `\n${rest.value}`}`;
  if (sql.trim() === "") return err(gatewayError("query.syntax", { message: "Empty query" }));
  if (sql.length > served.config.maxStatementBytes) return err(gatewayError("query.textTooLarge"));
  return admitted(sql, asked, served, undefined);
}

const multipart = /^multipart\//i;

/** `VALUES` in the address may have its rows in the body; a ClickHouse server reads those as well, but they are text. */
function bringsRows(start: string): boolean {
  return firstWords(start, 1)[0] === "INSERT" && insertForm(start).kind === "data";
}

function restOf(asked: Asked, served: Served): MayWait<Rest> {
  const { config, pending, host } = served;
  const came = readBody(asked.request, config, { pending, clock: host.clock });
  if (came instanceof Promise) return came.then((body) => unpackedRest(body, asked, served));
  return unpackedRest(came, asked, served);
}

function unpackedRest(
  came: Result<Buffer, GatewayError> | undefined,
  asked: Asked,
  served: Served,
): MayWait<Rest> {
  if (came === undefined || !came.ok) return came;
  const encoding = asked.request.headers["content-encoding"];
  const blocks = asked.fields.decompress;
  if (encoding === undefined && !blocks) return decoded(came.value, asked, served);
  const bytesMax = served.config.maxStatementBytes;
  return unpacked(came.value, encoding, { blocks, bytesMax }).then((bytes) => {
    return bytes.ok ? decoded(bytes.value, asked, served) : bytes;
  });
}

function decoded(bytes: Buffer, asked: Asked, { host }: Served): MayWait<Rest> {
  if (!isUtf8(bytes)) {
    return err(gatewayError("protocol.violation", { message: "the statement is not UTF-8" }));
  }
  if (!areLong(bytes)) return ok(bytes.toString("utf8"));
  return longTexts.decode(bytes, utf8Of, clientOf(asked), host.slices).then((long) => {
    return long.ok ? ok(long.value.text ?? "") : long;
  });
}

/** A long text takes turns with others, with its clause and then without it. */
function admitted(
  written: string,
  asked: Asked,
  { config, host }: Served,
  body: Text["body"],
): MayWait<Read> {
  const { user, client } = clientOf(asked);
  const admit = (
    sql: string,
    also?: LongText["also"],
  ): Promise<GatewayError | undefined> | undefined =>
    longTexts.admit(
      { sql, dialect: "clickhouse", also, limits: config, user, client },
      host.slices,
    );
  const reading = admit(written, formatAhead);
  if (reading !== undefined) return readOn(written, reading, admit, body);
  const { sql, format } = formatReading(written);
  return ok({ sql, format, body });
}

type Admit = (sql: string) => Promise<GatewayError | undefined> | undefined;

async function readOn(
  written: string,
  reading: Promise<GatewayError | undefined>,
  admit: Admit,
  body: Text["body"],
): Promise<Read> {
  const refused = await reading;
  if (refused !== undefined) return err(refused);
  const { sql, format } = formatReading(written);
  const again = format === undefined ? undefined : admit(sql);
  const refusedAgain = again && (await again);
  return refusedAgain === undefined ? ok({ sql, format, body }) : err(refusedAgain);
}

function* formatAhead(sql: string) {
  yield* formatReading.ahead(sql);
  return true;
}

function clientOf({ login, canceller }: Asked): DecodingClient {
  return { user: login.identity.user, client: new SignalledClient(canceller.signal) };
}

/** The text of bytes that are known to be UTF-8. */
function utf8Of({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("utf8");
}
