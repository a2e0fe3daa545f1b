/** How an engine's certificate is checked, as options of `node:tls`. */
import { readFile } from "node:fs/promises";
import type { ClusterTls } from "@gateway/contract/config/cluster.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";

export interface TlsTrust {
  readonly ca?: string;
  readonly servername?: string;
  readonly minVersion: "TLSv1.2";
}

/** Reads the authorities once, when the cluster is opened. Refuses with `cluster.connectFailed` and the file's name. */
export async function tlsTrust(
  tls: ClusterTls | undefined,
): Promise<Result<TlsTrust, GatewayError>> {
  const name = tls?.serverName === undefined ? {} : { servername: tls.serverName };
  if (tls?.caFile === undefined) return ok({ minVersion: "TLSv1.2", ...name });
  try {
    return ok({ minVersion: "TLSv1.2", ca: await readFile(tls.caFile, "utf8"), ...name });
  } catch {
    return err(gatewayError("cluster.connectFailed", { detail: `${tls.caFile} can not be read` }));
  }
}
