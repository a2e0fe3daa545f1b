/** May this user route to this cluster group. Says nothing about what the engine sees. */
import type { AuthContext } from "../query/identity.ts";

export interface Authorizer {
  /** True when `identity` may use `group`. An error inside denies. A promise only where somebody is asked. */
  mayUse(identity: AuthContext, group: string, signal: AbortSignal): boolean | Promise<boolean>;
  /** True when `identity` may cancel queries of others; `group` is where the query went, undefined before it went anywhere. An error inside denies. */
  mayCancel(identity: AuthContext, group: string | undefined): Promise<boolean>;
}
