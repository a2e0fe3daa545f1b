/** Reads files of unknown size: a path in a config may lead to a device that never ends. */
import { closeSync, openSync, readSync } from "node:fs";
import { err, ok, type Result } from "@gateway/core/result.ts";

/** Why a file can not be read: a code of the system (`ENOENT`), or it is longer than it may be. */
export type FileProblem =
  | { readonly kind: "unreadable"; readonly code: string }
  | { readonly kind: "tooLarge" };

/** The bytes of a file of at most `bytesMax`. Takes no more memory than that. */
export function readBounded(file: string, bytesMax: number): Result<Uint8Array, FileProblem> {
  try {
    const opened = openSync(file, "r");
    try {
      return readAll(opened, bytesMax);
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return err({ kind: "unreadable", code });
  }
}

function readAll(opened: number, bytesMax: number): Result<Uint8Array, FileProblem> {
  // Reading one byte more than allowed shows whether the file goes on.
  const bytes = new Uint8Array(bytesMax + 1);
  let length = 0;
  for (;;) {
    const read = readSync(opened, bytes, length, bytes.length - length, null);
    length += read;
    if (length > bytesMax) return err({ kind: "tooLarge" });
    if (read === 0) return ok(bytes.slice(0, length));
  }
}
