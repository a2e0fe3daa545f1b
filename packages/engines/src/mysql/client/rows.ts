/** Rows of a result as packets, and how it ends. */
import type { GatewayError } from "@gateway/core/error.ts";
import { waited, type Reading } from "@gateway/core/query/course.ts";
import type { NativeBatch, NativeFormat } from "@gateway/core/type/vector.ts";
import { errorOf } from "../../starRocks/errors.ts";
import { isEnd, readEof, readError, type OkReply } from "../../starRocks/client/reply.ts";
import type { Member } from "../../starRocks/client/member.ts";
import type { Packets } from "../../starRocks/page/packets.ts";
import { brokenOf } from "../errors.ts";

/** How a result ended. */
export type End = Pick<OkReply, "affectedRows" | "insertId" | "warnings" | "info" | "status">;

/** The same, or the server's error. A `GatewayError` itself is a server that did not speak as it must. */
export type Ended = End | GatewayError | { readonly error: GatewayError };

export function isRow(byte: number, length: number): boolean {
  return byte !== 0xff && !isEnd(byte, length, false);
}

/** The next rows; undefined at what ends them, which stays. */
export function* nativeRows(
  packets: Packets,
  format: NativeFormat,
): Reading<NativeBatch | undefined> {
  const here = packets.rowBytesHere(isRow);
  const found = here === "short" ? yield* waited(packets.rowBytes(isRow)) : here;
  return found && { form: "native", format, ...found };
}

/** What is behind the rows. */
export function* endOf(packets: Packets, { decode }: Pick<Member, "decode">): Reading<Ended> {
  const last = packets.held() ?? (yield* waited(packets.one()));
  if (last === undefined) return brokenOf(packets);
  if (last.payload[0] === 0xff) return { error: errorOf(readError(last.payload, decode)) };
  return { affectedRows: 0, insertId: 0n, info: "", ...readEof(last.payload) };
}
