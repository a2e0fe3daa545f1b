/**
 * The configuration as it crosses processes: what a worker receives and a control plane serves.
 *
 * The shapes are open here: a cluster is only known to have an engine, whose own schema checks the rest when
 * the snapshot is compiled. Documents stay as they were written, without defaults, so that a release with new
 * defaults has the same hash for the same configuration.
 */
import { z } from "zod";
import { revisionHashSchema, type Revision } from "./revision.ts";

/** Format of the snapshot that this build writes. */
export const snapshotSchemaVersion = 1;
/** Formats that this build reads, oldest first. */
export const snapshotSchemaVersions = [1] as const;

/** A document as it was written. */
const document = z.record(z.string(), z.unknown());

/** Everything that is hashed. */
export const snapshotBodySchema = z.strictObject({
  clusters: z.record(z.string(), document),
  clusterGroups: z.record(z.string(), document),
  routers: z.array(document),
  routingFallback: z.string().optional(),
  scripts: z.array(document),
  settings: z.strictObject({
    auth: document.optional(),
    authorization: document.optional(),
    accessControl: document.optional(),
    guardrails: document.optional(),
    catalogProvider: document.optional(),
  }),
  translation: document,
  /** Where records go and how much of a query they may tell. */
  history: document,
});

export type SnapshotBody = z.output<typeof snapshotBodySchema>;

/**
 * What comes before the body. `mac` is an HMAC over `headText`, under a key derived from the fleet secret that
 * the reader presented, so that nobody on the way can forge a position or an age.
 */
export const snapshotHeadSchema = z.strictObject({
  schemaVersion: z.int().min(1),
  revision: revisionHashSchema,
  epoch: z.int().min(0),
  sequence: z.int().min(1),
  /** When the control plane vouched for it. Unix milliseconds. */
  confirmedAt: z.int().min(0),
  /** Lower-case hex of HMAC-SHA256. */
  mac: z.string().regex(/^[0-9a-f]{64}$/),
});

export type SnapshotHead = z.output<typeof snapshotHeadSchema>;

/** `{head, …body}` as served. */
export const snapshotSchema = snapshotBodySchema.extend({ head: snapshotHeadSchema });
export type Snapshot = z.output<typeof snapshotSchema>;

/** HKDF-SHA256 `info` of the key that authenticates heads; the fleet secret is the input, the salt is empty. */
export const headKeyInfo = "gateway snapshot head v1";

/** What the head's `mac` is computed over. Fields in a fixed order, one per line. */
export function headText(head: Omit<SnapshotHead, "mac">): string {
  const { schemaVersion, revision, epoch, sequence, confirmedAt } = head;
  return [schemaVersion, revision, epoch, sequence, confirmedAt].join("\n");
}

export function revisionOfHead(head: Omit<SnapshotHead, "mac">): Revision {
  return { epoch: head.epoch, sequence: head.sequence, hash: head.revision };
}
