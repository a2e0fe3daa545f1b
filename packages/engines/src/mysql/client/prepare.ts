/** A statement that the server prepares for one execution, and the packets of that execution. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { MysqlAttributes, MysqlExecution } from "@gateway/core/query/mysqlCall.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { countedFlag, namedBody } from "@gateway/wire/mysql/attributes.ts";
import { ByteReader } from "@gateway/wire/mysql/byteReader.ts";
import { columnType, commandCode, packetBytesMax } from "@gateway/wire/mysql/protocol.ts";
import { errorOf } from "../../starRocks/errors.ts";
import { readError } from "../../starRocks/client/reply.ts";
import type { Member } from "../../starRocks/client/member.ts";
import { textPackets } from "../../starRocks/page/halves.ts";
import { Packets } from "../../starRocks/page/packets.ts";
import { brokenOf } from "../errors.ts";

/** Bytes of a value that go ahead in one packet. */
const pieceBytes = 1024 * 1024;
/** Id, flags and the count of executions, which is always one. */
const executeHeadBytes = 9;

export interface Prepared {
  readonly id: number;
}

const unasked = gatewayError("engine.broken", { detail: "bytes behind an answer" });

/** COM_STMT_PREPARE. `open` is told while the server still has something to say. */
export async function prepareText(
  member: Member,
  sql: string,
  parameters: number,
  open: (open: boolean) => void,
): Promise<Result<Prepared, GatewayError>> {
  open(true);
  member.send(textPackets(member, commandCode.stmtPrepare, sql));
  const packets = new Packets(() => member.next(), member.answersFrom);
  const first = packets.held() ?? (await packets.one());
  if (first === undefined) return err(brokenOf(packets));
  if (first.payload[0] === 0xff && !packets.surplus) {
    open(false);
    return err(errorOf(readError(first.payload, member.decode)));
  }
  const reader = new ByteReader(first.payload, 1);
  const id = reader.u32();
  const columns = reader.u16();
  const places = reader.u16();
  if (reader.failed || first.payload[0] !== 0)
    return err(gatewayError("engine.broken", { detail: "an answer that is none" }));
  for (const count of [places, columns]) {
    // With an EOF behind each list that is not empty.
    for (let left = count === 0 ? 0 : count + 1; left > 0; left -= 1) {
      if ((packets.held() ?? (await packets.one())) === undefined) return err(brokenOf(packets));
    }
  }
  if (packets.surplus) return err(unasked);
  open(false);
  if (places === parameters) return ok({ id });
  closeStatement(member, id);
  const message = `the statement has ${places} parameters, not ${parameters}`;
  return err(gatewayError("query.parameters", { message }));
}

/** COM_STMT_SEND_LONG_DATA for what came ahead, which has no answer, and COM_STMT_EXECUTE. */
export function sendExecution(
  member: Member,
  { id }: Prepared,
  call: MysqlExecution,
  attributes?: MysqlAttributes,
): void {
  for (const [parameter, bytes] of call.longData) {
    for (let at = 0; at === 0 || at < bytes.length; at += pieceBytes) {
      const piece = bytes.subarray(at, at + pieceBytes);
      const head = Buffer.alloc(7);
      head[0] = commandCode.stmtSendLongData;
      head.writeUInt32LE(id, 1);
      head.writeUInt16LE(parameter, 5);
      member.send(packetsOf([head, piece]));
    }
  }
  const head = Buffer.alloc(1 + executeHeadBytes);
  head[0] = commandCode.stmtExecute;
  head.writeUInt32LE(id, 1);
  const named = member.takesAttributes ? namedBody(call, attributes) : undefined;
  const counted = named !== undefined && named.length > 0 ? countedFlag : 0;
  head[5] = (call.cursor === undefined ? 0 : cursorReadOnly) | counted;
  head.writeUInt32LE(1, 6);
  const plain = () => [member.isMariadb ? withoutJson(call) : call.body];
  member.send(packetsOf([head, ...(named ?? plain())]));
}

/**
 * JSON values as strings, which is what their bytes are. A client takes the gateway's greeting for a MySQL, whose
 * JSON is a type; MariaDB, which has no such type, would refuse the execution.
 */
function withoutJson({ body, parameters }: MysqlExecution): Uint8Array {
  const typesAt = Math.ceil(parameters / 8) + 1;
  let changed: Uint8Array | undefined;
  for (let at = typesAt; at < typesAt + parameters * 2; at += 2) {
    if (body[at] !== columnType.json) continue;
    changed ??= body.slice();
    changed[at] = columnType.string;
  }
  return changed ?? body;
}

/** CURSOR_TYPE_READ_ONLY. */
const cursorReadOnly = 1;
const rowsPerFetchMax = 0xffff_ffff;

/** COM_STMT_FETCH: the next rows of the statement's cursor. */
export function sendFetch(member: Member, { id }: Prepared, rows: number): void {
  const head = Buffer.alloc(9);
  head[0] = commandCode.stmtFetch;
  head.writeUInt32LE(id, 1);
  head.writeUInt32LE(Math.min(Math.max(rows, 1), rowsPerFetchMax), 5);
  member.send(packetsOf([head]));
}

/** COM_STMT_CLOSE, which has no answer. */
export function closeStatement(member: Member, id: number): void {
  const head = Buffer.alloc(5);
  head[0] = commandCode.stmtClose;
  head.writeUInt32LE(id, 1);
  member.send(packetsOf([head]));
}

/** A payload as packets, in parts where it is longer than one may be. `from` is the number of the first. */
export function packetsOf(pieces: readonly Uint8Array[], from = 0): Uint8Array {
  const payload = Buffer.concat(pieces);
  const parts: Uint8Array[] = [];
  for (let at = 0, sequence = from; ; sequence += 1) {
    const length = Math.min(payload.length - at, packetBytesMax);
    parts.push(Uint8Array.of(length & 0xff, (length >> 8) & 0xff, length >> 16, sequence & 0xff));
    parts.push(payload.subarray(at, at + length));
    at += length;
    if (length < packetBytesMax) return Buffer.concat(parts);
  }
}
