/** The file of a LOAD DATA LOCAL: asked of the client that sent the statement, and of nobody else. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { MysqlFiles } from "@gateway/core/query/mysqlCall.ts";
import type { Member } from "../../starRocks/client/member.ts";
import type { Packets } from "../../starRocks/page/packets.ts";
import { noFiles } from "../errors.ts";
import { packetsOf } from "./prepare.ts";

/** Bytes of a file that go on in one packet. */
const pieceBytes = 1024 * 1024;

/** Sends the client's file on, up to the empty packet behind it. The error where nothing more may be sent. */
export async function answerFile(
  member: Member,
  packets: Packets,
  name: Uint8Array,
  files: MysqlFiles | undefined,
): Promise<GatewayError | undefined> {
  if (files === undefined) return noFiles;
  const send = (piece: Uint8Array): void => {
    member.send(packetsOf([piece], packets.sequence));
    packets.skip(1);
  };
  await files.ask(name);
  for (;;) {
    const bytes = await files.next();
    if (bytes === "end") break;
    if (bytes === "left") {
      // The end of a file would make a server keep the half of it.
      member.destroy();
      return gatewayError("query.cancelled");
    }
    for (let at = 0; at < bytes.length; at += pieceBytes) send(bytes.subarray(at, at + pieceBytes));
    await member.drained();
    if (!member.open) break;
  }
  send(new Uint8Array(0));
  return undefined;
}
