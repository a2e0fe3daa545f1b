/** The servers of a cluster, and how each is reached. */
import { readFile } from "node:fs/promises";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { tlsTrust } from "../../connect/tls.ts";
import type { Server } from "../../starRocks/client/login.ts";
import { hostOf, type MysqlConfig } from "../config.ts";

/** Reads the files of the cluster's TLS once. Refuses with `cluster.connectFailed` and a file's name. */
export async function serversOf(
  config: MysqlConfig,
): Promise<Result<readonly Server[], GatewayError>> {
  const tls = await tlsOf(config.tls);
  if (!tls.ok) return tls;
  const connectTimeoutMs = config.connectTimeoutSecs * 1_000;
  const servers = config.hosts.flatMap((text) => {
    const found = hostOf(text);
    return found === undefined ? [] : [{ ...found, tls: tls.value, connectTimeoutMs }];
  });
  return ok(servers);
}

async function tlsOf(tls: MysqlConfig["tls"]): Promise<Result<Server["tls"], GatewayError>> {
  if (tls === undefined) return ok(undefined);
  const trust = await tlsTrust(tls);
  if (!trust.ok) return trust;
  const { certFile, keyFile } = tls;
  if (certFile === undefined || keyFile === undefined) return trust;
  try {
    const [cert, key] = await Promise.all([readFile(certFile, "utf8"), readFile(keyFile, "utf8")]);
    return ok({ ...trust.value, cert, key });
  } catch {
    const detail = `${certFile} or ${keyFile} can not be read`;
    return err(gatewayError("cluster.connectFailed", { detail }));
  }
}
