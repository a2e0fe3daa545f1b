/** How far a query has come that began without a course, for the course that goes on with it. */
import type { GatewayError } from "../../error.ts";
import type { Identified } from "../../query/query.ts";
import type { Slot } from "../../query/slot.ts";
import type { Result } from "../../result.ts";
import type { Attempt } from "./attempt.ts";
import type { PatientReader } from "./patience.ts";
import type { Admission } from "./underway.ts";
import type { Way } from "./way.ts";

/** Each stage's outcome, or its wait; undefined: it has not begun. */
export interface Begun {
  readonly finding: Result<Way, GatewayError> | Promise<Result<Way, GatewayError>> | undefined;
  readonly granted: Result<Slot, GatewayError> | Admission | undefined;
  readonly attempt: Attempt | undefined;
  readonly identifying:
    | Result<Identified, GatewayError>
    | Promise<Result<Identified, GatewayError>>
    | undefined;
  /** What guards say of the engine's text, where any is asked. */
  readonly judging: Promise<Result<readonly string[], GatewayError>> | undefined;
  /** Of an engine that was asked. */
  readonly events: PatientReader | undefined;
}

/** True when the statement may leave something on its connection that its session was promised. */
export function mayKeep(query: Identified, { cluster }: Slot, { generation }: Way): boolean {
  return generation.backend(cluster).mayKeep?.(query) === true;
}
