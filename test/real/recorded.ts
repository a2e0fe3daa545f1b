/** What the recording ADBC driver wrote down (recordingDriver.c). */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** One line of it. */
export interface Seen {
  readonly process: string;
  /** Of the process and the database object in it. */
  readonly database: string;
  readonly what: string;
  readonly key: string;
  readonly value: string;
}

const name = "libadbc_driver_snowflake.so.log";

/** Everything since it was last forgotten, in order. */
export async function seenIn(folder: string): Promise<readonly Seen[]> {
  const text = await readFile(join(folder, name), "utf8");
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const [process = "", address = "", what = "", key = "", ...value] = line.split("\t");
    return { process, database: `${process} ${address}`, what, key, value: value.join("\t") };
  });
}

/** Empties it. */
export async function forgetSeen(folder: string): Promise<void> {
  await writeFile(join(folder, name), "");
}
