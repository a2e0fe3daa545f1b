/**
 * What commands of the same host say to the process that holds a PGlite folder: one JSON object per
 * line, one question at a time, each answered by one line.
 *
 * Nothing here leaves the host: the socket is the owner's alone.
 */
import type { Socket } from "node:net";
import { z } from "zod";

/** An export of a large configuration fits; a line without an end does not fill the memory. */
const lineBytesMax = 64 * 1024 * 1024;

const parameter = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.strictObject({ hex: z.string().regex(/^(?:[0-9a-f]{2})*$/) }),
]);

/** `take` keeps the connection for the asker until `give`: what is between may be a transaction. */
export const folderQuestion = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("run"), sql: z.string(), parameters: z.array(parameter) }),
  z.strictObject({ do: z.literal("script"), sql: z.string() }),
  z.strictObject({ do: z.literal("take") }),
  z.strictObject({ do: z.literal("give") }),
]);
export type FolderQuestion = z.output<typeof folderQuestion>;

export const folderAnswer = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("reply"),
    rows: z.array(z.array(z.union([z.string(), z.null()]))),
    count: z.number(),
    command: z.string(),
  }),
  z.strictObject({
    kind: z.literal("error"),
    error: z.strictObject({
      kind: z.enum(["refused", "unreachable"]),
      code: z.string(),
      constraint: z.string().optional(),
    }),
  }),
]);
export type FolderAnswer = z.output<typeof folderAnswer>;

/** Writes one line; false when the other side is gone. */
export function sendLine(socket: Socket, message: FolderQuestion | FolderAnswer): boolean {
  if (!socket.writable) return false;
  socket.write(`${JSON.stringify(message)}\n`);
  return true;
}

/** Parsed lines until the other side ends, breaks off, or sends what is no JSON or no line. */
export async function* linesOf(socket: Socket): AsyncGenerator<unknown, void, void> {
  let parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
        parts.push(chunk.subarray(from, end));
        yield JSON.parse(Buffer.concat(parts).toString("utf8"));
        parts = [];
        bytes = 0;
        from = end + 1;
      }
      parts.push(chunk.subarray(from));
      bytes += chunk.length - from;
      if (bytes > lineBytesMax) return;
    }
  } catch {
    // A broken connection ends like a closed one: nobody is there to be told.
  }
}
