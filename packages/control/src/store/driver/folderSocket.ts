/** Serves one command of the same host over the socket that holds a PGlite folder. The client is `folderClient.ts`. */
import type { Socket } from "node:net";
import type { Clock } from "@gateway/core/port/clock.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import type { DatabaseError, Parameter } from "../database.ts";
import type { Connection, Reply } from "./connection.ts";
import {
  folderQuestion,
  linesOf,
  sendLine,
  type FolderAnswer,
  type FolderQuestion,
} from "./folderWire.ts";

/** Runs `work` while nobody else uses the connection. */
export type InTurn = <Value>(
  work: (connection: Connection) => Promise<Result<Value, DatabaseError>>,
) => Promise<Result<Value, DatabaseError>>;

interface Visit {
  readonly socket: Socket;
  readonly inTurn: InTurn;
  readonly clock: Clock;
}

/** A command that stops in the middle of a transaction does not stop the gateway for longer. */
const takenMsMax = 60_000;

/** Answers questions until the client hangs up; a transaction it leaves open is rolled back. */
export async function serveSocket(visit: Visit): Promise<void> {
  const lines = linesOf(visit.socket);
  await serveLines(visit, lines, (question) => serveOne(visit, lines, question));
  visit.socket.destroy();
}

async function serveOne(
  visit: Visit,
  lines: AsyncGenerator<unknown, void, void>,
  question: FolderQuestion,
): Promise<boolean> {
  if (question.do === "give") return false;
  if (question.do !== "take") {
    const outcome = await visit.inTurn((connection) => perform(connection, question));
    return sendLine(visit.socket, answerOf(outcome));
  }
  const outcome = await visit.inTurn(async (connection) =>
    ok(await keep(visit, lines, connection)),
  );
  return outcome.ok ? outcome.value : sendLine(visit.socket, answerOf(outcome));
}

/** Serves one client alone until it gives the connection back. False when it is gone. */
async function keep(
  { socket, clock }: Visit,
  lines: AsyncGenerator<unknown, void, void>,
  connection: Connection,
): Promise<boolean> {
  using _limit = clock.timer(takenMsMax, () => socket.destroy());
  let given = false;
  sendLine(socket, taken);
  await serveLines({ socket }, lines, async (question) => {
    if (question.do === "take") return false;
    given = question.do === "give";
    if (question.do === "give") return false;
    return sendLine(socket, answerOf(await perform(connection, question)));
  });
  // Outside a transaction it is a notice and nothing else.
  await connection.script("rollback");
  return given && sendLine(socket, taken);
}

const taken: FolderAnswer = { kind: "reply", rows: [], count: 0, command: "" };

/** Hands over each question until `serve` answers false, or one is none. */
async function serveLines(
  { socket }: Pick<Visit, "socket">,
  lines: AsyncGenerator<unknown, void, void>,
  serve: (question: FolderQuestion) => Promise<boolean>,
): Promise<void> {
  // Not `for await`, which would end the lines that the caller goes on to read.
  for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
    const question = folderQuestion.safeParse(line.value);
    if (!question.success) {
      socket.destroy();
      return;
    }
    if (!(await serve(question.data))) return;
  }
}

function perform(
  connection: Connection,
  question: Extract<FolderQuestion, { do: "run" | "script" }>,
): Promise<Result<Reply, DatabaseError>> {
  if (question.do === "script") return connection.script(question.sql);
  return connection.run(question.sql, question.parameters.map(parameterOf));
}

function parameterOf(
  parameter: Exclude<Parameter, Uint8Array> | { readonly hex: string },
): Parameter {
  if (parameter === null || typeof parameter !== "object") return parameter;
  return new Uint8Array(Buffer.from(parameter.hex, "hex"));
}

function answerOf(outcome: Result<Reply, DatabaseError>): FolderAnswer {
  if (!outcome.ok) return { kind: "error", error: outcome.error };
  const { rows, count, command } = outcome.value;
  return { kind: "reply", rows: rows.map((row) => [...row]), count, command };
}
