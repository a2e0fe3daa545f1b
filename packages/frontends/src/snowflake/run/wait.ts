/** Waiting for a statement on behalf of a request. */
import type { Clock } from "@gateway/core/port/clock.ts";
import { deferred } from "@gateway/core/tool/pause.ts";
import type { Submitted } from "./registry.ts";
import type { HttpResponse } from "../../listener/http/exchange.ts";

/** Resolves when it is over, after `waitMs`, or when the client leaves. The statement knows that somebody waits. */
export async function waitFor(
  submitted: Submitted,
  response: HttpResponse,
  { clock, waitMs }: { readonly clock: Clock; readonly waitMs: number },
): Promise<void> {
  const stopped = deferred<void>();
  const stop = (): void => stopped.resolve();
  using _timer = clock.timer(waitMs, stop);
  response.once("close", stop);
  if (response.destroyed) stop();
  submitted.waiting += 1;
  try {
    await Promise.race([submitted.over, stopped.promise]);
  } finally {
    submitted.waiting -= 1;
    response.off("close", stop);
  }
}
