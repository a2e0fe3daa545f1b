/** The gateway's own questions to a server, in the simple protocol: lists, settings, BEGIN and COMMIT. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { decodeText } from "@gateway/wire/text.ts";
import { brokenError, errorOf } from "../errors.ts";
import { spansOf } from "../page/cells.ts";
import type { Member } from "./member.ts";
import { endOf, unwritable } from "./reading.ts";

/** Cells as text. */
export type Rows = readonly (readonly (string | null)[])[];

/** The rows of the last result, and the tag of the last statement. */
export interface Answer {
  readonly rows: Rows;
  readonly tag: string;
}

/** Every row of a small answer. When the signal comes first, `leave` is called: the connection is closed. */
export async function ask(
  member: Member,
  sql: string,
  signal: AbortSignal,
  leave: () => void = () => member.destroy(),
): Promise<Result<Answer, GatewayError>> {
  if (signal.aborted) return err(gatewayError("query.cancelled"));
  const unwritten = unwritable(member, sql);
  if (unwritten !== undefined) return err(unwritten);
  signal.addEventListener("abort", leave, { once: true });
  try {
    member.put({ kind: "query", sql });
    member.flush();
    const answer = await read(member, sql);
    return signal.aborted && !answer.ok ? err(gatewayError("query.cancelled")) : answer;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

async function read(member: Member, sql: string): Promise<Result<Answer, GatewayError>> {
  let columns = 0;
  let rows: (string | null)[][] = [];
  let tag = "";
  let failure: GatewayError | undefined;
  for (;;) {
    const piece = await member.piece(columns);
    if (piece === undefined) {
      member.destroy();
      return err(failure ?? endOf(member));
    }
    switch (piece.kind) {
      case "rows":
        rows.push(...textsOf(piece.run.bytes, piece.run.count, columns, member));
        break;
      case "rowDescription":
        columns = piece.fields.length;
        rows = [];
        break;
      case "commandComplete":
        ({ tag } = piece);
        break;
      case "error":
        failure ??= errorOf(piece.report, { sql, prefix: 0 });
        break;
      case "notice":
      case "emptyQuery":
        break;
      case "ready":
        return failure === undefined ? ok({ rows, tag }) : err(failure);
      default:
        member.destroy();
        return err(brokenError(`an unexpected ${piece.kind}`));
    }
  }
}

function textsOf(
  bytes: Uint8Array,
  count: number,
  columns: number,
  { encoding }: Member,
): (string | null)[][] {
  const { charset } = encoding;
  const textOf = (cell: Uint8Array): string | undefined =>
    charset === undefined ? decodeText(cell) : charset.decode(cell);
  const { starts, lengths } = spansOf(bytes, count, columns);
  return Array.from({ length: count }, (_, row) =>
    Array.from({ length: columns }, (__, column) => {
      const cell = row * columns + column;
      const start = starts[cell] ?? 0;
      const length = lengths[cell] ?? -1;
      return length < 0 ? null : (textOf(bytes.subarray(start, start + length)) ?? "");
    }),
  );
}
