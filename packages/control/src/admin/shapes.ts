/** Shapes that many resources of the admin API share: pages, names, positions, problems. Parsed with, and written into the OpenAPI document. */
import type { Revision } from "@gateway/contract/revision.ts";
import { z } from "zod";
import { documentKinds } from "../store/store.ts";

/** Text that goes into the database: PostgreSQL has no NUL, and nobody types one. */
export const plainText = z
  .string()
  .min(1)
  .max(1_024)
  // oxlint-disable-next-line no-control-regex -- NUL is what is refused
  .regex(/^[^\u0000]*$/, "must not hold a NUL character");

export const unixMs = z.number().meta({ description: "Unix milliseconds." });

/** Unix milliseconds in a query string. */
export const unixMsParameter = z.coerce
  .number()
  .int()
  .min(0)
  .max(8_640_000_000_000_000)
  .meta({ description: "Unix milliseconds." });

export const pageShape = {
  limit: z.coerce.number().int().min(1).max(1_000).default(100).meta({
    description: "Most items of one answer.",
  }),
  cursor: plainText.optional().meta({ description: "`nextCursor` of the answer before." }),
} as const;

/** `?limit&cursor` and nothing else. */
export const pageQuery = z.strictObject(pageShape);
export type PageQuery = z.output<typeof pageQuery>;

export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item),
    nextCursor: z.string().optional().meta({ description: "Present when there is more." }),
  });
}

/** A place in the log of revisions, `epoch.sequence`. */
export const positionSchema = z
  .string()
  .regex(/^\d{1,15}\.\d{1,15}$/, "must be epoch.sequence")
  .meta({ description: "`epoch.sequence` of a revision.", examples: ["1767225600.1"] });

/** Reads what `positionSchema` let through. */
export function positionOf(text: string): Pick<Revision, "epoch" | "sequence"> {
  const [epoch = "", sequence = ""] = text.split(".");
  return { epoch: Number(epoch), sequence: Number(sequence) };
}

/** What every write of the configuration answers. */
export const writtenShape = {
  revision: z.string().meta({ description: "`epoch.sequence.hash` that this write led to." }),
  changed: z.boolean().meta({
    description: "False when the content was the same: no new revision was made.",
  }),
} as const;
export const writtenSchema = z.strictObject(writtenShape);

/** `Difference` of the configuration. */
export const differenceSchema = z.strictObject({
  object: z.strictObject({ kind: z.enum(documentKinds), name: z.string() }),
  kind: z.enum(["added", "removed", "changed"]),
  changes: z.array(
    z.strictObject({ path: z.string(), from: z.unknown().optional(), to: z.unknown().optional() }),
  ),
});

export const faultSchema = z.strictObject({ path: z.string(), reason: z.string() });

/** RFC 9457, as `problem.ts` writes it. */
export const problemSchema = z
  .strictObject({
    type: z.string(),
    status: z.int(),
    code: z.string(),
    title: z.string(),
    detail: z.string().optional(),
    faults: z.array(faultSchema).optional(),
    current: z.int().nullable().optional(),
  })
  .meta({ id: "Problem", title: "Problem", description: "RFC 9457 problem details." });

/** Any JSON, for documents whose shape belongs to the configuration. */
export const documentSchema = z.record(z.string(), z.unknown());
