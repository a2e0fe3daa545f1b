/**
 * Whether every listener has its certificate, asked before anything is opened: a start that migrates the database and
 * then finds none would leave a database behind that the program of before does not start with.
 */
import type { ListenError } from "@gateway/core/port/frontend.ts";
import { certificateFault } from "@gateway/frontends/listener/tls.ts";
import type { GatewayConfig } from "../config/schema.ts";

export function certificateFaults({ frontends, adminApi }: GatewayConfig): readonly ListenError[] {
  const listeners = Object.entries({ ...frontends, adminApi });
  return listeners.flatMap(([kind, listener]) => {
    if (listener?.enabled !== true || listener.tls === undefined) return [];
    const fault = certificateFault(kind, listener.tls);
    return fault === undefined ? [] : [fault];
  });
}
