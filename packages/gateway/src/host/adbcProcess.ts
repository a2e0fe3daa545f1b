/**
 * The program of a driver's process: the first message says which driver, the later ones what to do.
 *
 * It lives as long as its parent: a native call would keep it from an orderly end, so it kills itself.
 */
import type { ProcessMessage } from "@gateway/engines/adbc/message.ts";
import { serveDriver } from "@gateway/engines/adbc/process.ts";
import type { DriverLibrary } from "@gateway/engines/adbc/reach.ts";
import { workerThreads } from "./threads.ts";

type Start = { readonly kind: "start"; readonly data: DriverLibrary };

const threads = workerThreads(new URL(".", import.meta.url));
const parent = {
  send: (message: unknown): void => void process.send?.(message, undefined, undefined, endNow),
  lost: () => endNow(),
};
let serve: ((message: ProcessMessage) => void) | undefined;

process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
// A terminal's Ctrl-C reaches the whole group; the parent drains first and ends this itself.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.on("message", (message: Start | ProcessMessage) => {
  if (message.kind === "start") serve = serveDriver(threads, message.data, parent);
  else serve?.(message);
});

/** Called with the error of a message that could not be sent, or without one when all is well. */
function endNow(error?: Error | null): void {
  if (error !== null) process.kill(process.pid, "SIGKILL");
}
