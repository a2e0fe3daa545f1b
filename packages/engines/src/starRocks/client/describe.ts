/** What the server says of a statement that it prepares: its parameters and columns, without running it. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { ByteReader } from "@gateway/wire/mysql/byteReader.ts";
import { commandCode } from "@gateway/wire/mysql/protocol.ts";
import { errorOf } from "../errors.ts";
import { packetsOfColumns, readColumn, type ReadColumn } from "../page/columns.ts";
import { textPackets } from "../page/halves.ts";
import { Packets, type Packet } from "../page/packets.ts";
import type { Member } from "./member.ts";
import { readError } from "./reply.ts";

/** Both lists; the bytes are the packets of their definitions, as the client reads them. */
export interface Described {
  readonly parameters: number;
  readonly columns: readonly Column[];
  readonly native: { readonly parameters: Uint8Array; readonly columns: Uint8Array };
}

/**
 * Prepares a text with `?` in its places and closes what was prepared. The connection is closed when the signal comes
 * first. `extended`: for a client that agreed to MariaDB's blocks in definitions.
 */
export async function describeText(
  member: Member,
  sql: string,
  signal: AbortSignal,
  extended: boolean = false,
): Promise<Result<Described, GatewayError>> {
  if (signal.aborted) return err(gatewayError("query.cancelled"));
  const destroy = (): void => member.destroy();
  signal.addEventListener("abort", destroy, { once: true });
  try {
    const described = await ask(member, sql, extended);
    if (described !== undefined) return described;
    // Something of the answer may still come.
    member.destroy();
    return err(gatewayError(signal.aborted ? "query.cancelled" : "engine.broken"));
  } finally {
    signal.removeEventListener("abort", destroy);
  }
}

/** Undefined when the answer is none, or the connection ended. */
async function ask(
  member: Member,
  sql: string,
  extended: boolean,
): Promise<Result<Described, GatewayError> | undefined> {
  member.send(textPackets(member, commandCode.stmtPrepare, sql));
  const packets = new Packets(() => member.next(), member.answersFrom);
  const first = await nextOf(packets);
  if (first === undefined) return undefined;
  if (first.payload[0] === 0xff)
    return packets.surplus ? undefined : err(errorOf(readError(first.payload, member.decode)));
  const reader = new ByteReader(first.payload, 1);
  const id = reader.u32();
  const counts = { columns: reader.u16(), parameters: reader.u16() };
  if (reader.failed || first.payload[0] !== 0) return undefined;
  const parameters = await readList(packets, counts.parameters, member.endsWithOk);
  if (parameters === undefined) return undefined;
  const columns = await readList(packets, counts.columns, member.endsWithOk);
  if (columns === undefined) return undefined;
  if (packets.surplus) return undefined;
  member.send(closing(id));
  return ok({
    parameters: parameters.length,
    columns: columns.map(({ column }) => column),
    native: {
      parameters: packetsOfColumns(parameters, extended),
      columns: packetsOfColumns(columns, extended),
    },
  });
}

function nextOf(packets: Packets): Packet | Promise<Packet | undefined> {
  return packets.held() ?? packets.one();
}

async function readList(
  packets: Packets,
  count: number,
  endsWithOk: boolean,
): Promise<readonly ReadColumn[] | undefined> {
  const read: ReadColumn[] = [];
  while (read.length < count) {
    const packet = await nextOf(packets);
    const column = packet && readColumn(packet);
    if (column === undefined) return undefined;
    read.push(column);
  }
  if (endsWithOk || count === 0) return read;
  return (await nextOf(packets)) && read;
}

/** It has no answer. */
function closing(id: number): Uint8Array {
  const packet = Buffer.from([5, 0, 0, 0, commandCode.stmtClose, 0, 0, 0, 0]);
  packet.writeUInt32LE(id, 5);
  return packet;
}
