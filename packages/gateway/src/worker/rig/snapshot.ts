/** Snapshots for tests, as a control plane with `testSecret` would serve them. */
import { createHash, createHmac } from "node:crypto";
import { canonicalJson, type Json } from "@gateway/contract/canonical.ts";
import { headText, type SnapshotHead } from "@gateway/contract/snapshot.ts";
import { virtualStartUnixMs } from "@gateway/core/rig/virtual.ts";
import { Secret } from "@gateway/core/secret.ts";
import { headKeysOf } from "../snapshot/verify.ts";

export const testSecret = new Secret("the-secret-of-the-fleet-in-these-tests");
export const otherSecret = new Secret("another-secret-that-is-as-long-as-that");

export interface SnapshotOptions {
  readonly sequence?: number;
  readonly epoch?: number;
  readonly confirmedAt?: number;
  readonly schemaVersion?: number;
  readonly secret?: Secret;
  /** Default: one that differs by `name`. */
  readonly body?: Readonly<Record<string, Json>>;
  readonly name?: string;
}

export interface TestSnapshot {
  readonly head: SnapshotHead;
  /** Canonical JSON of the body. */
  readonly bodyText: string;
  /** `{head, …body}` as served, identity coding. */
  readonly bytes: Uint8Array;
}

/** A body with everything in it; `name` makes it another one. */
export function bodyOf(name: string): Readonly<Record<string, Json>> {
  return {
    clusters: { [name]: { engine: "duckDb", enabled: true, note: "Grüße \u2028 😀" } },
    clusterGroups: { all: { members: [name], maxRunningQueries: 4 } },
    routers: [{ type: "protocolBased", trinoHttp: "all" }],
    routingFallback: "all",
    scripts: [],
    settings: { auth: { provider: "none" } },
    translation: {},
    history: { redaction: "full" },
  };
}

/** Builds, hashes and authenticates a snapshot. */
export function snapshotOf(options: SnapshotOptions = {}): TestSnapshot {
  const { sequence = 1, epoch = 1, confirmedAt = virtualStartUnixMs, schemaVersion = 1 } = options;
  const bodyText = canonicalJson(options.body ?? bodyOf(options.name ?? "duck"));
  const revision = `sha256:${createHash("sha256").update(bodyText, "utf8").digest("hex")}`;
  const head = signed({ schemaVersion, revision, epoch, sequence, confirmedAt }, options.secret);
  const text = `{"head":${JSON.stringify(head)},${bodyText.slice(1)}`;
  return { head, bodyText, bytes: Buffer.from(text, "utf8") };
}

/** A head with its mac. */
export function signed(head: Omit<SnapshotHead, "mac">, secret: Secret = testSecret): SnapshotHead {
  const [key = new Uint8Array()] = headKeysOf([secret]);
  const mac = createHmac("sha256", key).update(headText(head), "utf8").digest("hex");
  return { ...head, mac };
}
