/**
 * Whether every listener has its certificate, asked before anything is opened: a start that migrates the database and
 * then finds none would leave a database behind that the program of before does not start with.
 */
import { certificateFault } from "@gateway/frontends/listener/tls.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { StartFault } from "../starting.ts";

/** One for each listener, by the key that names the file. */
export function certificateFaults({ frontends, adminApi }: GatewayConfig): readonly StartFault[] {
  const listeners = Object.entries(frontends).map(
    ([kind, listener]) => [`gateway.frontends.${kind}`, listener] as const,
  );
  return [...listeners, ["gateway.adminApi", adminApi] as const].flatMap(([path, listener]) => {
    if (listener?.enabled !== true || listener.tls === undefined) return [];
    const fault = certificateFault(listener.tls);
    if (fault === undefined) return [];
    const { field, file, code } = fault;
    return [{ part: `${path}.tls.${field}`, reason: `can not be used (${file}: ${code})` }];
  });
}
