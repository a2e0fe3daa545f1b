/**
 * A database in somebody else's hands: commands of the host (`gateway config export`,
 * `gateway admin reset-password`) reach the PGlite folder through the gateway that holds it.
 */
import { connect, type Socket } from "node:net";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type {
  StatementResult,
  Database,
  DatabaseError,
  Parameter,
  Statements,
} from "../database.ts";
import { transactionOn, voided, type Connection, type Reply } from "./connection.ts";
import { findHolder } from "./folderLock.ts";
import { folderAnswer, linesOf, sendLine, type FolderQuestion } from "./folderWire.ts";
import { Turns } from "./turns.ts";

/** `notRunning`: nobody holds the folder, so `openPglite` can. */
export type ConnectRefusal = { readonly code: "notRunning"; readonly path: string };

const gone: DatabaseError = { kind: "unreachable", code: "ECONNRESET" };
const tooMany: DatabaseError = { kind: "unreachable", code: "tooManyStatements" };

/** Reaches the process that holds the folder. It can not listen: the caller polls. */
export async function connectFolder(path: string): Promise<Result<Database, ConnectRefusal>> {
  await using road = await findHolder(path);
  const socket = road === undefined ? undefined : await reached(road.address);
  if (socket === undefined) return err({ code: "notRunning", path });
  return ok(new FolderDatabase(socket));
}

class FolderDatabase implements Database {
  readonly kind = "pglite";
  readonly #socket: Socket;
  readonly #lines: AsyncGenerator<unknown, void, void>;
  readonly #turns = new Turns(1);
  readonly #connection: Connection;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#lines = linesOf(socket);
    this.#connection = {
      run: (sql, parameters) => this.#ask({ do: "run", sql, parameters: parameters.map(sendable) }),
      script: (sql) => this.#ask({ do: "script", sql }),
    };
  }

  run(
    sql: string,
    parameters: readonly Parameter[] = [],
  ): Promise<Result<StatementResult, DatabaseError>> {
    return this.#inTurn(() => this.#connection.run(sql, parameters));
  }

  async script(sql: string): Promise<Result<void, DatabaseError>> {
    return voided(await this.#inTurn(() => this.#connection.script(sql)));
  }

  transaction<Value, Refusal>(
    work: (statements: Statements) => Promise<Result<Value, Refusal>>,
  ): Promise<Result<Value, Refusal | DatabaseError>> {
    return this.#inTurn(async () => {
      const taken = await this.#ask({ do: "take" });
      if (!taken.ok) return taken;
      try {
        return await transactionOn(this.#connection, work);
      } finally {
        await this.#ask({ do: "give" });
      }
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
    return Promise.resolve();
  }

  async #inTurn<Value, Refusal>(
    work: () => Promise<Result<Value, Refusal>>,
  ): Promise<Result<Value, Refusal | DatabaseError>> {
    const waiting = this.#turns.take();
    if (waiting === undefined) return err(tooMany);
    using _turn = await waiting;
    return await work();
  }

  /** One question is on its way at a time, so the next line is its answer. */
  async #ask(question: FolderQuestion): Promise<Result<Reply, DatabaseError>> {
    if (!sendLine(this.#socket, question)) return err(gone);
    const line = await this.#lines.next();
    const answer = line.done === true ? undefined : folderAnswer.safeParse(line.value);
    if (answer?.success !== true) return err(gone);
    if (answer.data.kind === "reply") return ok(answer.data);
    const { kind, code, constraint } = answer.data.error;
    return err({ kind, code, ...(constraint === undefined ? {} : { constraint }) });
  }
}

function sendable(parameter: Parameter): Exclude<Parameter, Uint8Array> | { hex: string } {
  if (!(parameter instanceof Uint8Array)) return parameter;
  return { hex: Buffer.from(parameter).toString("hex") };
}

function reached(address: string): Promise<Socket | undefined> {
  return new Promise((answer) => {
    const socket = connect(address);
    socket.once("connect", () => answer(socket));
    // Stays: a later error ends the lines, and without a listener it would end the process.
    socket.on("error", () => answer(undefined));
  });
}
