/** What a start is given, and what it answers when it fails. Data only: who starts what is roles.ts. */
import type { ListenError } from "@gateway/core/port/frontend.ts";
import type { Contents } from "@gateway/engines/descriptor.ts";
import type { RootConfig } from "./config/schema.ts";
import type { Environment } from "./config/secrets.ts";
import type { NodeHost } from "./host/node.ts";

/** One process's start. */
export interface StartOptions {
  readonly config: RootConfig;
  /** The file as written, without defaults: what is stored when the database is empty. */
  readonly document: unknown;
  readonly host: NodeHost;
  /** Folder of the bundle: thread programs and migrations. */
  readonly bundle: URL;
  /** Where secret references are looked up. */
  readonly environment: Environment;
  /** What databases in memory are filled with. */
  readonly contents: Contents;
}

/** A part of the process or of its config that a start fails for. */
export interface StartFault {
  readonly part: string;
  readonly reason: string;
}

/** A listener, a cluster, or another part that could not be opened. */
export type StartError =
  | ListenError
  | { readonly cluster: string; readonly reason: string }
  | StartFault;

const listenReasons: Record<ListenError["reason"], string> = {
  portInUse: "the port is in use",
  addressUnavailable: "the address can not be bound",
  portForbidden: "the port needs more privileges",
  certificate: "the certificate can not be used",
};

/** One line for the operator. */
export function startErrorText(error: StartError): string {
  if ("cluster" in error) return `clusters.${error.cluster}: ${error.reason}`;
  if ("part" in error) return `${error.part}: ${error.reason}`;
  return `${error.kind}: ${listenReasons[error.reason]} (${error.detail})`;
}
