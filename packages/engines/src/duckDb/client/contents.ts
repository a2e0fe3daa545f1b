/** What an embedded database is filled with when it is opened: nothing, the sample, or the files of a folder. */
import { realpath } from "node:fs/promises";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Contents } from "../../descriptor.ts";
import type { SetupStatement } from "../../native/message.ts";
import type { DuckDbConfig } from "../config.ts";
import { folderStatements } from "./folder.ts";
import { sampleStatements } from "./sample.ts";

/** The statements that fill it; none for a database that may only be read. Refuses a folder that can not be read. */
export async function setupOf(
  contents: Contents,
  { readOnly }: Pick<DuckDbConfig, "readOnly">,
): Promise<Result<readonly SetupStatement[], string>> {
  if (readOnly) return ok([]);
  switch (contents.kind) {
    case "none":
      return ok([]);
    case "sample":
      return ok(sampleStatements);
    case "folder":
      try {
        return ok(await folderStatements(await realpath(contents.folder)));
      } catch (error) {
        return err(error instanceof Error ? error.message : "the folder can not be read");
      }
  }
}
