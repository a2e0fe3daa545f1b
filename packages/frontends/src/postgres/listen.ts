/** Opens the PostgreSQL listener: sockets in, conversations out. Loaded only where the frontend is opened. */
import type { Listen } from "@gateway/core/port/frontend.ts";
import { ok } from "@gateway/core/result.ts";
import { ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import { writeBackend } from "@gateway/wire/postgres/backend.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { openListener } from "../listener/accept.ts";
import { withOwnWords } from "../listener/statementLimits.ts";
import { CancelKeys } from "./run/cancel.ts";
import { Mirrors } from "./catalog/mirrors.ts";
import type { PostgresConfig } from "./config.ts";
import { converse } from "./connection.ts";
import { errorReport } from "./errors.ts";
import { frontendKind } from "./login/handshake.ts";
import { AsideRoom } from "./run/execution/rowsAside.ts";
import { statementReader } from "./read/statement.ts";

export const listen: Listen<PostgresConfig> = async (config, door, host) => {
  const keys = new CancelKeys(host, door);
  const asideRoom = new AsideRoom();
  const mirrors = new Mirrors(config.catalog, door, host);
  const parts = { door, host, keys, asideRoom, mirrors, read: statementReader() };
  const opened = await openListener({
    kind: frontendKind,
    config: withOwnWords(config),
    host,
    protocol: "postgresql",
    onConnection: (connection) => converse(connection, parts),
    onRefused: (socket, error) => void socket.write(lastWords(error)),
    onDrain: (connection) => void connection.send(lastWords(gatewayError("gateway.draining"))),
  });
  if (!opened.ok) return opened;
  const listener = opened.value;
  return ok({
    kind: frontendKind,
    host: config.host,
    port: listener.port,
    tls: listener.tls,
    drain: async (deadline) => {
      await listener.drain(deadline);
      await mirrors[Symbol.asyncDispose]();
    },
  });
};

/** An error that ends a connection, whichever phase it is in. */
function lastWords(error: GatewayError): Uint8Array {
  const out = new ByteWriter();
  writeBackend(out, { kind: "error", report: errorReport(error, {}, "FATAL") });
  return out.take();
}
