/** snowflake-sdk as the shared suite wants a client: over HTTP or TLS, everything as text. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import snowflake, { type Connection } from "snowflake-sdk";
import type { SuiteAnswer, SuiteClient, SuiteLogin } from "../../rig/subject.ts";

snowflake.configure({ logLevel: "OFF", disableOCSPChecks: true } as never);

/** Connects and logs in. */
export async function connectSdk(port: number, login: SuiteLogin): Promise<SuiteClient> {
  const scheme = login.ca === undefined ? "http" : "https";
  const wire = await wireTo(port);
  const connection = snowflake.createConnection({
    account: "suite",
    accessUrl: `${scheme}://localhost:${wire.port}`,
    username: login.user,
    password: login.password ?? "none",
    fetchAsString: ["Boolean", "Number", "Date", "JSON", "Buffer"],
    sfRetryMaxNumRetries: 0,
    sfRetryMaxLoginRetries: 0,
    retryTimeout: 0,
  } as never);
  await new Promise<void>((resolve, reject) => {
    connection.connect((error) => {
      if (error) reject(error);
      else resolve();
    });
  });
  return {
    query: (sql) => query(connection, sql),
    destroy: () => wire.cut(),
    close: () =>
      new Promise((resolve) => {
        connection.destroy(() => {
          wire.cut();
          resolve();
        });
      }),
  };
}

/** The driver's connections lead through here, so that a test can cut them: it has no call for that itself. */
async function wireTo(port: number): Promise<{ readonly port: number; cut(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function query(connection: Connection, sqlText: string): Promise<SuiteAnswer> {
  return new Promise((resolve, reject) => {
    connection.execute({
      sqlText,
      rowMode: "array",
      complete: (error, statement, rows) => {
        if (error) return reject(failureOf(error));
        const columns = (statement.getColumns() ?? []).map((column) => column.getName());
        const changed = statement.getNumUpdatedRows();
        if (changed !== undefined && changed >= 0) {
          return resolve({ columns: [], rows: [], updateCount: changed });
        }
        return resolve({
          columns,
          rows: (rows as readonly unknown[][]).map((row) => row.map(textOf)),
          updateCount: undefined,
        });
      },
    });
  });
}

function failureOf(error: Error): Error {
  const { data } = error as Error & { data?: { line?: number; pos?: number } };
  const position = data?.line === 1 && data.pos !== undefined ? data.pos + 1 : undefined;
  return Object.assign(error, { position });
}

function textOf(cell: unknown): string | null {
  // Where everything is fetched as text, so is a NULL.
  if (cell === null || cell === undefined || cell === "NULL") return null;
  return typeof cell === "string" ? cell : JSON.stringify(cell);
}
