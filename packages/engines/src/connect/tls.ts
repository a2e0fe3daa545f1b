/** How an engine's certificate is checked, as options of `node:tls`. */
import { readFile } from "node:fs/promises";
import type { ClusterTls } from "@gateway/contract/config/cluster.ts";
import type { ServerTlsConfig } from "@gateway/contract/config/server.ts";
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

/** How the certificate of a server is checked, and the gateway's own. */
export interface ServerTls extends TlsTrust {
  readonly cert?: string;
  readonly key?: string;
}

/** Reads the files of a cluster's TLS. Refuses with `cluster.connectFailed` and a file's name. */
export async function serverTls(
  tls: ServerTlsConfig | undefined,
): Promise<Result<ServerTls | undefined, GatewayError>> {
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
