/** A token for an engine, made from a client's own token (RFC 8693). One for each cluster that asks for it. */
import type { GatewayError } from "../error.ts";
import type { Result } from "../result.ts";
import type { Secret } from "../secret.ts";
import type { AuthContext } from "../query/identity.ts";

export interface TokenExchange extends AsyncDisposable {
  /**
   * The token for `identity`, from memory until shortly before it expires. Equal calls at the same time
   * share one request. Refuses with `auth.noBackendIdentity` whatever went wrong, `query.cancelled` when
   * aborted; neither repeats what the endpoint said.
   */
  exchange(
    subject: Secret,
    identity: AuthContext,
    signal: AbortSignal,
  ): Promise<Result<Secret, GatewayError>>;
}
