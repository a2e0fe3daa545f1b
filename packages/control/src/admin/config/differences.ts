/** Differences of configurations as the API shows them; `Difference` of the configuration, for the document. */
import { z } from "zod";
import { documentKinds } from "../../store/store.ts";

export const differenceSchema = z.strictObject({
  object: z.strictObject({ kind: z.enum(documentKinds), name: z.string() }),
  kind: z.enum(["added", "removed", "changed"]),
  changes: z.array(
    z.strictObject({ path: z.string(), from: z.unknown().optional(), to: z.unknown().optional() }),
  ),
});
