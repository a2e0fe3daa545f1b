/** Limits of time of `node:http`, without the time in which nobody could read. */
import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Clock } from "@gateway/core/port/clock.ts";

/**
 * Node looks at its limits before it reads what lies in the sockets. When the process stood still (a machine that is
 * paused and moved, a stopped container), a client whose request is here already would be told 408. What it stood still
 * is added to the limits for as long as a request from before can be under way. To be called before the server listens.
 *
 * The limits are asked for at the moment of the look: a timer that sets them may be due after Node's own.
 */
export function forgiveStandstill(
  server: HttpServer | HttpsServer,
  checkMs: number,
  clock: Clock,
): void {
  const { headersTimeout, requestTimeout } = server;
  const rememberMs = Math.max(headersTimeout, requestTimeout);
  /** Less than this is a busy process, and leaves time enough to read. */
  const worthMs = headersTimeout / 4;
  let lookedMs = clock.nowMs();
  let forgottenMs = 0;
  let stoodMs = 0;
  const stood = (): number => {
    const nowMs = clock.nowMs();
    const lateMs = nowMs - lookedMs - checkMs;
    lookedMs = nowMs;
    if (nowMs > forgottenMs) stoodMs = 0;
    if (lateMs > worthMs) {
      stoodMs += Math.ceil(lateMs);
      forgottenMs = nowMs + rememberMs;
    }
    return stoodMs;
  };
  const timer = setInterval(stood, checkMs).unref();
  server.once("close", () => clearInterval(timer));
  Object.defineProperties(server, {
    headersTimeout: { get: () => headersTimeout + stood() },
    // 0 is no limit, and stays none.
    requestTimeout: { get: () => (requestTimeout === 0 ? 0 : requestTimeout + stood()) },
  });
}
