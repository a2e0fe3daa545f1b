/**
 * Rows of a cursor of the server's. It keeps them until they are fetched, so a client that takes its time holds neither
 * locks nor a server that waits for its network. Between two fetches nothing is on the connection.
 */
import { gatewayError } from "@gateway/core/error.ts";
import type { Course } from "@gateway/core/query/course.ts";
import type { MysqlCursor } from "@gateway/core/query/mysqlCall.ts";
import { batchBytes } from "@gateway/core/type/size.ts";
import type { NativeFormat } from "@gateway/core/type/vector.ts";
import { serverStatus } from "@gateway/wire/mysql/protocol.ts";
import type { Member } from "../../starRocks/client/member.ts";
import { Packets } from "../../starRocks/page/packets.ts";
import { noAnswer } from "../errors.ts";
import { sendFetch, type Prepared } from "./prepare.ts";
import { endOf, nativeRows, type Ended } from "./rows.ts";

export interface OpenCursor {
  readonly cursor: MysqlCursor;
  readonly prepared: Prepared;
  readonly signal: AbortSignal;
}

interface Fetching {
  readonly format: NativeFormat;
  readonly counted: { rows: number; bytes: number };
  readonly member: Member;
  /** Its `open` is false while the server has nothing to say. */
  readonly trace: { open: boolean };
}

/** Fetches as many rows as are wanted each time an event is asked for, until the server says that it was the last. */
export function* fetchRows(
  { format, counted, member, trace }: Fetching,
  { cursor, prepared, signal }: OpenCursor,
): Course<Ended> {
  for (;;) {
    if (signal.aborted) return gatewayError("query.cancelled");
    trace.open = true;
    sendFetch(member, prepared, cursor.wanted);
    const fetched = new Packets(() => member.next());
    let batch = yield* nativeRows(fetched, format);
    while (batch !== undefined) {
      const next = yield* nativeRows(fetched, format);
      if (next === undefined) break;
      counted.rows += batch.rows;
      counted.bytes += batchBytes(batch);
      yield { kind: "batch", batch };
      batch = next;
    }
    const end = yield* endOf(fetched, member);
    if ("code" in end) return end;
    if (fetched.surplus) return noAnswer("an end of rows");
    const last = "error" in end || (end.status & serverStatus.lastRowSent) !== 0;
    // A server that gives neither a row nor an end would be asked for ever.
    if (batch === undefined && !last) return noAnswer("a row");
    trace.open = false;
    if (batch !== undefined) {
      counted.rows += batch.rows;
      counted.bytes += batchBytes(batch);
      yield { kind: "batch", batch };
    }
    if (last) return end;
  }
}
