/** A result that a server of PostgreSQL wrote as its client is to get it. */
import type { Answer } from "@gateway/core/query/course.ts";
import { flushBytes, type Outbox } from "../../outbox.ts";
import type { ClientSession } from "../../session/clientSession.ts";
import type { ExecutionPlan, Step, Stop } from "./step.ts";

interface Client {
  readonly session: Pick<ClientSession, "charset">;
  readonly out: Outbox;
}

/** Passes it on as it is, with its tag. Undefined, and nothing is written, where more than its bytes has to be looked at. */
export function passOn(
  answer: Answer,
  plan: ExecutionPlan,
  wish: Step,
  { session, out }: Client,
): Stop | undefined {
  if (Symbol.asyncIterator in answer || session.charset !== undefined) return undefined;
  const done = answer[answer.length - 1];
  if (done?.kind !== "done" || done.whole?.written === undefined) return undefined;
  const { batch, written } = done.whole;
  // Notices and the like come before it otherwise.
  const isAll = answer[0]?.kind === "columns" && answer.length === (batch === undefined ? 2 : 3);
  if (!isAll || written.length >= flushBytes || !takesAll(plan, wish)) return undefined;
  out.writer.bytes(written);
  return { kind: "complete", rows: batch?.rows ?? 0, tag: done.commandTag ?? "", told: true };
}

/** All rows, in text, described before the first of them. */
function takesAll({ promised, copy, formats }: ExecutionPlan, wish: Step): boolean {
  const { announce, maxRows, silent, columnsOnly, formats: otherwise } = wish;
  const isPlain = promised === undefined && copy === undefined && formats.length === 0;
  const isWhole = maxRows === 0 && announce === "rows" && otherwise === undefined;
  return isPlain && isWhole && silent !== true && columnsOnly !== true;
}
