/**
 * The shared suite tried on the smallest frontend there can be: one JSON text per line, each way.
 * It shows that the suite can be met; that it can fail is shown by every frontend's first run of it.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Listen } from "@gateway/core/port/frontend.ts";
import { ok } from "@gateway/core/result.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { Secret } from "@gateway/core/secret.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import { cellWriter, postgresText } from "@gateway/core/type/text.ts";
import { isNull, type Vector } from "@gateway/core/type/vector.ts";
import { frontendSuite } from "./frontend.suite.ts";
import { openListener } from "./listener/accept.ts";
import type { Connection } from "./listener/connection.ts";
import { configOf } from "./listener/rig/listener.ts";
import { mayTakeCredentials } from "./listener/tls.ts";
import type { ConnectClient, SuiteAnswer } from "./rig/subject.ts";

type Reply =
  | { readonly kind: "answer"; readonly answer: SuiteAnswer }
  | { readonly kind: "error"; readonly message: string; readonly position?: number | undefined };

/** Lines of a client, at most `maxMessageBytes` each; undefined for a longer one, then nothing. */
async function* linesOf(connection: Connection): AsyncGenerator<string | undefined, void, void> {
  const { socket, closed, config } = connection;
  let held = "";
  let wake: () => void = () => undefined;
  closed.addEventListener("abort", () => wake());
  socket.on("data", (chunk: Buffer) => {
    held += chunk.toString("utf8");
    if (held.length > config.maxMessageBytes) socket.pause();
    wake();
  });
  while (!closed.aborted) {
    const end = held.indexOf("\n");
    if (end > config.maxMessageBytes || (end === -1 && held.length > config.maxMessageBytes)) {
      return yield undefined;
    }
    if (end === -1) {
      socket.resume();
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      continue;
    }
    const line = held.slice(0, end);
    held = held.slice(end + 1);
    yield line;
  }
}

const listen: Listen<ListenerConfig> = async (config, door, host) => {
  const opened = await openListener({
    kind: "lines",
    config,
    host,
    onConnection: (connection) => serve(connection, door),
    onRefused: (socket, error) => void socket.write(lineOf(errorReply(error))),
  });
  if (!opened.ok) return opened;
  const { port, tls } = opened.value;
  const drain = (deadline: AbortSignal) => opened.value.drain(deadline);
  return ok({ kind: "lines", host: config.host, port, tls, drain });
};

async function serve(connection: Connection, door: Door): Promise<void> {
  if (connection.canUpgrade && (await connection.upgrade()) === undefined) return;
  let session: Session | undefined;
  for await (const line of linesOf(connection)) {
    if (line === undefined) return refuse(connection, gatewayError("protocol.tooLarge"));
    const message = parsed(line);
    if (message === undefined) return refuse(connection, gatewayError("protocol.violation"));
    connection.idle(false);
    if (session === undefined) {
      session = await logIn(message, connection, door);
      if (session === undefined) return;
      connection.handshakeDone();
      await connection.send(Buffer.from("{}\n"));
    } else
      await connection.send(
        Buffer.from(lineOf(await run(message["sql"] ?? "", session, connection, door))),
      );
    connection.idle(true);
  }
}

async function logIn(
  { user = "", password }: Record<string, string>,
  connection: Connection,
  door: Door,
): Promise<Session | undefined> {
  if (password !== undefined && !mayTakeCredentials(connection)) {
    refuse(connection, gatewayError("auth.cleartext"));
    return undefined;
  }
  const shown = password === undefined ? undefined : new Secret(password);
  const checked = await door.authenticate(
    shown === undefined
      ? { kind: "nothing", user, asked: true }
      : { kind: "password", user, password: shown },
    { frontend: "lines", address: connection.address },
  );
  if (checked.ok) return sessionOf(checked.value, connection.address);
  refuse(connection, checked.error);
  return undefined;
}

function sessionOf(
  verified: Pick<Session, "identity" | "credential">,
  clientAddress: string,
): Session {
  return {
    frontend: "lines",
    ...verified,
    clientAddress,
    dialect: "postgres",
    catalog: undefined,
    schema: undefined,
    settings: new Map(),
    tags: new Map(),
    headers: new Map(),
    pin: undefined,
  };
}

async function run(
  sql: string,
  session: Session,
  connection: Connection,
  door: Door,
): Promise<Reply> {
  const rows: (string | null)[][] = [];
  let columns: readonly string[] = [];
  let updateCount: number | undefined;
  if (sql.length > connection.config.maxStatementBytes) {
    return errorReply(gatewayError("query.textTooLarge"));
  }
  const query = door.query(readStatement(sql, session.dialect), [], session);
  for await (const event of door.run(query, connection.closed)) {
    if (event.kind === "failed") return errorReply(event.error);
    if (event.kind === "columns") columns = event.columns.map((column) => column.name);
    if (event.kind === "batch")
      rows.push(...rowsOf(columnarOf(event.batch).columns, event.batch.rows));
    if (event.kind === "done") updateCount = event.updateCount;
    // The client takes nothing before the end; an endless answer ends when it leaves.
    if (rows.length > 100_000) rows.length = 0;
  }
  return { kind: "answer", answer: { columns, rows, updateCount } };
}

function rowsOf(columns: readonly Vector[], count: number): (string | null)[][] {
  const writers = columns.map((column) => cellWriter(column, postgresText));
  return Array.from({ length: count }, (_, row) =>
    columns.map((column, index) => {
      const writer = writers[index];
      if (writer === undefined || isNull(column, row)) return null;
      const out = new Uint8Array(writer.bound(row));
      return Buffer.from(out.subarray(0, writer.write(out, 0, row))).toString("utf8");
    }),
  );
}

function parsed(line: string): Record<string, string> | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === "object" ? (message as Record<string, string>) : undefined;
  } catch {
    return undefined;
  }
}

function refuse(connection: Connection, error: GatewayError): void {
  void connection.send(Buffer.from(lineOf(errorReply(error))));
  connection.end();
}

function errorReply({ message, position }: GatewayError): Reply {
  return { kind: "error", message, position };
}

function lineOf(reply: Reply): string {
  return `${JSON.stringify(reply)}\n`;
}

const connectClient: ConnectClient = async (port, { ca, ...login }) => {
  const socket =
    ca === undefined
      ? connect({ port, host: "127.0.0.1" })
      : connectTls({ port, host: "127.0.0.1", servername: "localhost", ca });
  await once(socket, ca === undefined ? "connect" : "secureConnect");
  let held = "";
  let wake: () => void = () => undefined;
  socket.on("error", () => undefined);
  socket.on("close", () => wake());
  socket.on("data", (chunk: Buffer) => {
    held += chunk.toString("utf8");
    wake();
  });
  const ask = async (message: unknown): Promise<SuiteAnswer> => {
    socket.write(`${JSON.stringify(message)}\n`);
    while (!held.includes("\n")) {
      if (socket.destroyed) throw new Error("the connection was closed");
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const line = held.slice(0, held.indexOf("\n"));
    held = held.slice(line.length + 1);
    const reply = JSON.parse(line) as Reply;
    if (reply.kind !== "error") return reply.answer;
    throw Object.assign(new Error(reply.message), { position: reply.position });
  };
  await ask(login);
  return {
    query: (sql) => ask({ sql }),
    destroy: () => void socket.destroy(),
    close: async () => void socket.end(),
  };
};

frontendSuite("of lines", connectClient, {
  listen,
  config: configOf,
  texts: {
    boolean: "t",
    int8: "-128",
    int16: "32767",
    int32: "-2147483648",
    int64: "9223372036854775807",
    int128: "-170141183460469231731687303715884105728",
    uint8: "255",
    uint16: "65535",
    uint32: "4294967295",
    uint64: "18446744073709551615",
    float32: "0.1",
    float64: "0.30000000000000004",
    decimal: "-1234567890.12",
    wideDecimal: "1234567890123456789012345678.9012345678",
    text: 'né "q" \\ \n😀',
    binary: "\\x00ff5c41",
    date: "2024-02-29",
    time: "23:59:59.999999",
    timestamp: "2024-02-29 12:34:56.123456",
    timestampNs: "2024-02-29 12:34:56.123456789",
    instant: "2024-02-29 12:34:56.5+00",
    interval: "1 year 2 mons 3 days 04:05:06.789",
    uuid: "0190163d-8694-739b-aea5-966c26f8ad91",
    json: '{"a":[1,null]}',
    list: '{"a b",NULL,""}',
    struct: "(1,x)",
    map: '{"(k,1)"}',
  },
  positions: true,
  lyingLength: Buffer.from('{"user": "'),
});
