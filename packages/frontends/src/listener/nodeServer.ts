/** What every server of `node:http` needs here beside its options. */
import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Clock } from "@gateway/core/port/clock.ts";
import { forgiveStandstill } from "./standstill.ts";

/** To be called before the server listens; `checkMs` is its `connectionsCheckingInterval`. */
export function prepareServer(
  server: HttpServer | HttpsServer,
  checkMs: number,
  clock: Clock,
): void {
  forgiveStandstill(server, checkMs, clock);
  continueInTurn(server);
}

/**
 * Node writes `100 Continue` of a request that waits behind another one between the head and the body of its answer, where
 * that body is bytes. Nothing says it there; who waits for it sends after a while (RFC 9110, 10.1.1).
 */
function continueInTurn(server: HttpServer | HttpsServer): void {
  server.on("checkContinue", (request, response) => {
    if (response.socket !== null) response.writeContinue();
    server.emit("request", request, response);
  });
}
