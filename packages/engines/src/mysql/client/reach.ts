/** The servers of a cluster, and how each is reached. */
import { hostOf } from "@gateway/contract/config/server.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import { serverTls } from "../../connect/tls.ts";
import type { Server } from "../../starRocks/client/login.ts";
import { defaultPort, type MysqlConfig } from "../config.ts";

/** Reads the files of the cluster's TLS once. Refuses with `cluster.connectFailed` and a file's name. */
export async function serversOf(
  config: MysqlConfig,
): Promise<Result<readonly Server[], GatewayError>> {
  const tls = await serverTls(config.tls);
  if (!tls.ok) return tls;
  const connectTimeoutMs = config.connectTimeoutSecs * 1_000;
  const servers = config.hosts.flatMap((text) => {
    const found = hostOf(text, defaultPort);
    return found === undefined ? [] : [{ ...found, tls: tls.value, connectTimeoutMs }];
  });
  return ok(servers);
}
