/**
 * Where a worker's configuration comes from: an endless stream of what its sources say, in order of
 * arrival. It judges nothing; snapshot/lifecycle.ts does.
 */
import type { SnapshotHead } from "@gateway/contract/snapshot.ts";
import type { Revision } from "@gateway/contract/revision.ts";

export const offerSources = ["controlPlane", "disk", "peer"] as const;
/** Where a snapshot came from. Only the control plane vouches; the others hand on copies. */
export type OfferSource = (typeof offerSources)[number];

/** A verified snapshot head, before its body is compiled. */
export interface Offer {
  readonly source: OfferSource;
  readonly revision: Revision;
  readonly schemaVersion: number;
  /** When the control plane last vouched for this revision. Unix milliseconds, signed. */
  readonly confirmedAtMs: number;
}

/** One thing a source said. Heads and bodies were verified before they come here. */
export type SourceEvent<Body> =
  /** A snapshot, or only its head (`body` undefined) when the content is already known here. */
  | {
      readonly kind: "offer";
      readonly offer: Offer;
      readonly head: SnapshotHead;
      readonly body: Body | undefined;
    }
  /** What was served is no snapshot: damaged, forged, of an unknown format, too large. */
  | { readonly kind: "unverified"; readonly source: OfferSource; readonly reason: string }
  /** There was no answer, or none that holds a configuration. */
  | { readonly kind: "unreachable"; readonly source: OfferSource; readonly reason: string };

export interface ConfigSource<Body> {
  /** Ends when `signal` aborts, and never otherwise. A source that fails goes on trying. */
  events(signal: AbortSignal): AsyncIterable<SourceEvent<Body>>;
}
