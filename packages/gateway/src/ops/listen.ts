/** Opens the operations listener over Hono's Node server. */
import { readFileSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { ListenError } from "@gateway/core/port/frontend.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Hono } from "hono";
import type { GatewayConfig } from "../config/schema.ts";

export interface OpenOps {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  close(): Promise<void>;
}

export async function listenOps(
  config: GatewayConfig["adminApi"],
  app: Hono,
): Promise<Result<OpenOps, ListenError>> {
  const made = serverOf(config, app);
  if (!made.ok) return made;
  const server = made.value;
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once("error", resolve);
    server.listen(config.port, config.host, () => resolve(undefined));
  });
  if (failure !== undefined) return err(listenErrorOf(failure, config));
  const { port } = server.address() as AddressInfo;
  return ok({
    host: config.host,
    port,
    tls: config.tls !== undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

function serverOf(config: GatewayConfig["adminApi"], app: Hono) {
  const answer = getRequestListener((request) => app.fetch(request));
  const listener: RequestListener = (request, response) => void answer(request, response);
  const limits = { headersTimeout: 10_000, requestTimeout: 30_000, maxHeaderSize: 16_384 };
  if (config.tls === undefined) return ok(createHttpServer(limits, listener));
  try {
    const cert = readFileSync(config.tls.certFile);
    const key = readFileSync(config.tls.keyFile);
    const minVersion = config.tls.minVersion === "1.3" ? "TLSv1.3" : "TLSv1.2";
    return ok(createHttpsServer({ ...limits, cert, key, minVersion }, listener));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unusable";
    const detail = `${config.tls.certFile}, ${config.tls.keyFile}: ${code}`;
    return err({ kind: "adminApi", reason: "certificate", detail } as const);
  }
}

function listenErrorOf(
  error: NodeJS.ErrnoException,
  { host, port }: GatewayConfig["adminApi"],
): ListenError {
  const detail = `${host}:${port} ${error.code ?? ""}`.trim();
  switch (error.code) {
    case "EADDRINUSE":
      return { kind: "adminApi", reason: "portInUse", detail };
    case "EACCES":
      return { kind: "adminApi", reason: "portForbidden", detail };
    default:
      return { kind: "adminApi", reason: "addressUnavailable", detail };
  }
}
