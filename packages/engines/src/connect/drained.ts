import type { Duplex } from "node:stream";

/** Resolves when a stream takes more, or is closed. */
export async function drained(stream: Duplex): Promise<void> {
  if (!stream.writableNeedDrain || stream.destroyed) return;
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      stream.off("drain", settle).off("close", settle);
      resolve();
    };
    stream.on("drain", settle).on("close", settle);
  });
}
