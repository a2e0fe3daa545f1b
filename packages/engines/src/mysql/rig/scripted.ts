/** A server of MySQL's family that takes every login, and answers commands as a test says, in whole or with lies. */
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { parseCommand } from "@gateway/wire/mysql/command.ts";
import { putGreeting } from "@gateway/wire/mysql/handshake.ts";
import { PacketReader, type Packet } from "@gateway/wire/mysql/packetReader.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { capability, collationId, columnType, commandCode } from "@gateway/wire/mysql/protocol.ts";
import { putColumn, putError, putOk } from "@gateway/wire/mysql/reply.ts";

/** A command as it came, without the tag that the gateway writes. */
export interface Seen {
  readonly code: number;
  /** Of COM_QUERY and COM_STMT_PREPARE. */
  readonly text: string;
  readonly payload: Uint8Array;
  /** Which connection it came on, counted from 1. */
  readonly connection: number;
  /** False for the gateway's own questions. */
  readonly tagged: boolean;
}

/**
 * Payloads of an answer; `close` breaks off, `raw` is sent as it is, and broken off behind it where it says so;
 * `undefined` leaves it to the server's own manners.
 */
export type Answer =
  | readonly Uint8Array[]
  | "close"
  | { readonly raw: Uint8Array; readonly close?: boolean }
  | undefined;
export type Script = (seen: Seen) => Answer;

const capabilities =
  capability.protocol41 |
  capability.foundRows |
  capability.localFiles |
  capability.secureConnection |
  capability.pluginAuth |
  capability.connectWithDb |
  capability.multiResults |
  capability.psMultiResults |
  capability.transactions;

const nonce = Buffer.from("abcdefghijklmnopqrst");
const payloadBytesMax = 32 * 1024 * 1024;

export class ScriptedMysql implements AsyncDisposable {
  readonly #server: Server;
  readonly #script: Script;
  readonly #version: string;
  /** What it grants beside. */
  readonly #more: number;
  readonly #sockets = new Set<Socket>();
  /** All commands in their order. */
  readonly seen: Seen[] = [];
  /** What came of files of clients. */
  readonly file: Buffer[] = [];
  logins = 0;
  /** Answers every login from now on with an error. */
  refuses = false;
  readonly #waiting: { readonly wants: (seen: Seen) => boolean; readonly go: () => void }[] = [];

  private constructor(script: Script, version: string, more: number) {
    this.#script = script;
    this.#version = version;
    this.#more = more;
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  static async start(
    script: Script = () => undefined,
    version = "8.0.0-scripted",
    more = 0,
  ): Promise<ScriptedMysql> {
    const server = new ScriptedMysql(script, version, more);
    await new Promise<void>((resolve) => {
      server.#server.listen(0, "127.0.0.1", resolve);
    });
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Texts of the clients' own statements. */
  get texts(): readonly string[] {
    return this.seen.filter(({ tagged }) => tagged).map(({ text }) => text);
  }

  /** Resolves when such a command has come. */
  async came(wants: (seen: Seen) => boolean): Promise<void> {
    if (this.seen.some(wants)) return;
    await new Promise<void>((go) => {
      this.#waiting.push({ wants, go });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    this.logins += 1;
    const connection = this.logins;
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
    const greeting = { serverVersion: this.#version, connectionId: connection, nonce };
    const granted = capabilities | this.#more;
    const more = { capabilities: granted, collation: collationId.utf8mb4, status: 2 };
    const out = new PacketWriter();
    out.begin();
    putGreeting(out, { ...greeting, ...more, plugin: "mysql_native_password" });
    out.end();
    socket.write(out.release());
    let state: "login" | "commands" | "file" = "login";
    const reader = new PacketReader(payloadBytesMax);
    socket.on("data", (bytes: Buffer) => {
      reader.push(bytes);
      for (let step = reader.next(); step.kind !== "more"; step = reader.next()) {
        if (step.kind !== "packet") return void socket.destroy();
        const { payload, lastSequence } = step;
        if (state === "login") {
          if (this.refuses) refuse(socket, lastSequence + 1);
          else send(socket, [okOf()], lastSequence + 1);
          state = "commands";
        } else if (state === "file") {
          this.file.push(Buffer.from(payload));
          if (payload.length > 0) continue;
          state = "commands";
          send(socket, [okOf({ affectedRows: 1 })], lastSequence + 1);
        } else if (this.#command(socket, step, connection)) state = "file";
      }
    });
  }

  /** True when it asked for a file. */
  #command(socket: Socket, { payload, lastSequence }: Packet, connection: number): boolean {
    const code = payload[0] ?? 0;
    const parsed = parseCommand(payload, this.#more);
    const hasText = parsed.kind === "query" || parsed.kind === "prepare";
    const whole = hasText ? Buffer.from(parsed.sql).toString("utf8") : "";
    const text = whole.replace(/^\/\* gateway\/.*? \*\/ /, "");
    const tagged = whole !== text;
    const seen = { code, text, payload: Buffer.from(payload), connection, tagged };
    this.seen.push(seen);
    const answer = this.#script(seen) ?? manners(seen);
    if (answer === "close") socket.destroy();
    else if ("raw" in answer) {
      if (answer.close === true) socket.end(answer.raw);
      else socket.write(answer.raw);
    } else send(socket, answer, lastSequence + 1);
    for (const { wants, go } of this.#waiting) if (wants(seen)) go();
    return Array.isArray(answer) && (answer as readonly Uint8Array[])[0]?.[0] === 0xfb;
  }
}

/** What every server answers. */
function manners({ code, text }: Seen): readonly Uint8Array[] {
  switch (code) {
    case commandCode.query:
      if (/^select @@sql_mode/i.test(text))
        return rowsOf(["@@sql_mode"], [["STRICT_TRANS_TABLES"]]);
      return /^select/i.test(text) ? rowsOf(["a"], [["1"]]) : [okOf()];
    case commandCode.stmtPrepare:
      return [preparedOf(1, 0, 0)];
    case commandCode.stmtExecute:
      return [okOf()];
    case commandCode.stmtClose:
    case commandCode.stmtSendLongData:
      return [];
    default:
      return [okOf()];
  }
}

function send(socket: Socket, payloads: readonly Uint8Array[], sequence: number): void {
  if (payloads.length === 0) return;
  const out = new PacketWriter();
  out.sequence = sequence & 0xff;
  for (const payload of payloads) {
    out.begin();
    out.raw(payload);
    out.end();
  }
  socket.write(out.release());
}

function refuse(socket: Socket, sequence: number): void {
  send(
    socket,
    [errorOf(1045, "28000", "Access denied for user 'ann' (using password: YES)")],
    sequence,
  );
  socket.end();
}

function payloadOf(put: (out: PacketWriter) => void): Uint8Array {
  const out = new PacketWriter();
  put(out);
  return out.release();
}

interface Ended {
  readonly affectedRows?: number;
  readonly insertId?: bigint;
  readonly status?: number;
  readonly warnings?: number;
  readonly info?: string;
}

/** Status flags: autocommit, in a transaction, more results, values of OUT parameters. */
export const status = { autocommit: 2, transaction: 1, more: 8, outParameters: 4096 } as const;

export function okOf({
  affectedRows = 0,
  insertId = 0n,
  warnings = 0,
  info = "",
  ...more
}: Ended = {}): Uint8Array {
  const told = { affectedRows, insertId, warnings, info, status: more.status ?? status.autocommit };
  return payloadOf((out) => putOk(out, { ...told, tracked: [] }, 0));
}

export function errorOf(errno: number, sqlState: string, message = "no"): Uint8Array {
  return payloadOf((out) => putError(out, { errno, sqlState, message }));
}

export function eofOf(flags: number = status.autocommit, warnings = 0): Uint8Array {
  return Uint8Array.of(0xfe, warnings, 0, flags & 0xff, flags >> 8);
}

export function columnOf(name: string): Uint8Array {
  return payloadOf((out) =>
    putColumn(out, {
      schema: "demo",
      table: "t",
      name,
      collation: collationId.utf8mb4,
      length: 80,
      type: columnType.varString,
      flags: 0,
      decimals: 0,
    }),
  );
}

/** A result of texts with the EOF packets around its rows. */
export function rowsOf(
  names: readonly string[],
  cells: readonly (readonly string[])[],
  flags: number = status.autocommit,
): readonly Uint8Array[] {
  return [
    Uint8Array.of(names.length),
    ...names.map(columnOf),
    eofOf(flags),
    ...cells.map((row) =>
      payloadOf((out) => {
        for (const cell of row) out.lenencText(cell);
      }),
    ),
    eofOf(flags),
  ];
}

/** The head of the answer to COM_STMT_PREPARE; definitions follow. */
export function preparedOf(id: number, columns: number, parameters: number): Uint8Array {
  return Uint8Array.of(0, id, 0, 0, 0, columns, 0, parameters, 0, 0, 0, 0);
}
