/** The text of a statement out of address and body, read and admitted; and whether rows follow in the body. */
import { isUtf8 } from "node:buffer";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { SignalledClient } from "@gateway/core/tool/canceller.ts";
import { areLong, type DecodingClient } from "../../listener/longBytes.ts";
import { longTexts } from "../../listener/longTexts.ts";
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
 * an `INSERT` whose rows the body holds.
 */
export async function textOf(asked: Asked, served: Served): Promise<Read | undefined> {
  const { request, fields } = asked;
  const start = fields.query === undefined ? undefined : `${fields.query}\n`;
  if (multipart.test(request.headers["content-type"] ?? "")) {
    const message = "external tables and fields in a multipart body are not taken";
    return err(gatewayError("query.unsupported", { message }));
  }
  if (start !== undefined && hasBody(request) && bringsRows(start)) {
    return await admitted(fields.query ?? "", asked, served, "rows");
  }
  const rest = hasBody(request) ? await restOf(asked, served) : ok("");
  if (rest === undefined || !rest.ok) return rest;
  const sql =
    start === undefined ? rest.value : `${fields.query ?? ""}${rest.value && `\n${rest.value}`}`;
  if (sql.trim() === "") return err(gatewayError("query.syntax", { message: "Empty query" }));
  if (sql.length > served.config.maxStatementBytes) return err(gatewayError("query.textTooLarge"));
  return await admitted(sql, asked, served, undefined);
}

const multipart = /^multipart\//i;

/** `VALUES` in the address may have its rows in the body; a ClickHouse server reads those as well, but they are text. */
function bringsRows(start: string): boolean {
  return firstWords(start, 1)[0] === "INSERT" && insertForm(start).kind === "data";
}

async function restOf(
  asked: Asked,
  { config, pending, host }: Served,
): Promise<Result<string, GatewayError> | undefined> {
  const { request, fields } = asked;
  const came = await readBody(request, config, { pending, clock: host.clock });
  if (came === undefined || !came.ok) return came;
  const encoding = request.headers["content-encoding"];
  const bytesMax = config.maxStatementBytes;
  const bytes = await unpacked(came.value, encoding, { blocks: fields.decompress, bytesMax });
  if (!bytes.ok) return bytes;
  if (!isUtf8(bytes.value)) {
    return err(gatewayError("protocol.violation", { message: "the statement is not UTF-8" }));
  }
  if (!areLong(bytes.value)) return ok(bytes.value.toString("utf8"));
  const decoded = await longTexts.decode(bytes.value, utf8Of, clientOf(asked), host.slices);
  return decoded.ok ? ok(decoded.value.text ?? "") : decoded;
}

/** A long text takes turns with others, with its clause and then without it. */
async function admitted(
  written: string,
  asked: Asked,
  { config, host }: Served,
  body: Text["body"],
): Promise<Read> {
  const { user, client } = clientOf(asked);
  const reading = longTexts.admit(
    { sql: written, dialect: "clickhouse", also: formatAhead, limits: config, user, client },
    host.slices,
  );
  const refused = reading && (await reading);
  if (refused !== undefined) return err(refused);
  const { sql, format } = formatReading(written);
  if (format === undefined) return ok({ sql, format, body });
  const again = longTexts.admit(
    { sql, dialect: "clickhouse", limits: config, user, client },
    host.slices,
  );
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
