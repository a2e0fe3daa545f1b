/**
 * Connections that a caller's own login opens: one for each statement or transaction, closed behind it,
 * so that nothing that one user proved is ever another's.
 *
 * A caller's password goes out under TLS only. What a server or its directory says about a login is
 * left behind; a refused one is `auth.noBackendIdentity` and says nothing about the server.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { noBackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { StarRocksMode } from "../config.ts";
import { connected, otherName } from "./connect.ts";
import { ask } from "./control.ts";
import { endStatement } from "./ending.ts";
import type { Account, LoginFailure, Server } from "./login.ts";
import type { Member } from "./member.ts";
import type { Pool, Taken } from "./pool.ts";

/** Characters of a name or a password that are sent. More is no login of a person. */
const textLengthMax = 1_024;

/** The account that a query runs as: the gateway's own, or exactly the caller's. */
export type As =
  | { readonly kind: "service" }
  | { readonly kind: "caller"; readonly account: Account };

/**
 * Whom a query's identity stands for. Refuses an identity of another mode than the cluster's, and texts
 * that a login could not carry whole.
 */
export function asOf(
  { backendIdentity, group }: Pick<Identified, "backendIdentity" | "group">,
  mode: StarRocksMode,
): Result<As, GatewayError> {
  const refused = (detail: string): Result<never, GatewayError> =>
    err(noBackendIdentity(mode, group, { detail }));
  if (backendIdentity.mode !== mode) return refused(`an identity of ${backendIdentity.mode}`);
  if (backendIdentity.mode !== "passthrough") return ok({ kind: "service" });
  const { credential, principal } = backendIdentity;
  if (credential.kind !== "password") return refused("the engine takes passwords only");
  const { user, password } = credential;
  if (user !== principal) return refused("the login is another's");
  if (!isWhole(user)) return refused("the name can not be sent whole");
  if (!isWhole(password.reveal())) return refused("the password can not be sent whole");
  return ok({ kind: "caller", account: { user, password } });
}

/**
 * Name and password end at a NUL in the protocol, and are UTF-8. An empty name stands for anybody, and a
 * directory takes an empty password for an anonymous bind.
 */
function isWhole(text: string): boolean {
  const fits = text !== "" && text.length <= textLengthMax;
  return fits && !text.includes("\0") && text.isWellFormed();
}

export class Callers {
  readonly #server: Server;
  readonly #pool: Pool;
  readonly #host: Host;

  /** `pool` counts the connections, and bounds how many there are at once. */
  constructor(server: Server, pool: Pool, host: Host) {
    this.#server = server;
    this.#pool = pool;
    this.#host = host;
  }

  /** A connection of the account's own. `database` is where it stands. */
  async take(
    account: Account,
    database: string | undefined,
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Taken, GatewayError>> {
    if (this.#server.tls === undefined) {
      const detail = "the connection would not be encrypted";
      return err(noBackendIdentity("passthrough", query.group, { detail }));
    }
    const connect = async (): Promise<Result<Member, GatewayError>> => {
      const login = { server: this.#server, account, database, signal };
      const made = await connected(login, this.#host);
      if (made.ok) return made;
      if (signal.aborted) return err(gatewayError("query.cancelled"));
      return err(errorOfLogin(made.error, query.group));
    };
    return await this.#pool.takeOwn(connect, signal);
  }

  /** Ends what a connection of the account runs, with the account's own right to end it. False when it could not. */
  async end(member: Member, account: Account, signal: AbortSignal): Promise<boolean> {
    const login = { server: this.#server, account, database: undefined, signal };
    const made = await connected(login, this.#host);
    if (!made.ok) return false;
    const own = made.value;
    try {
      const { threadId } = member;
      const { clock } = this.#host;
      return await endStatement(
        { threadId, clock, ask: (sql, until) => ask(own, sql, until) },
        signal,
      );
    } finally {
      own.destroy();
    }
  }
}

/** Access denied, denied without a password, password expired, account locked (MySQL, MariaDB), name that was cut. */
const refusals: ReadonlySet<number> = new Set([1045, 1698, 1820, 1862, 3118, 3955, 4151]);

/** The error of a caller's login. What the server says of it stays behind. */
export function errorOfLogin(
  { code, number, sqlState }: LoginFailure,
  group: string,
): GatewayError {
  const detail = number === undefined ? code : `error ${number}`;
  const refused = number !== undefined && refusals.has(number);
  if (refused || sqlState?.startsWith("28") === true || code === otherName) {
    return noBackendIdentity("passthrough", group, { detail });
  }
  // The login was right; the database belongs to somebody else, or is not there.
  if (number === 1044) return gatewayError("query.permission", { detail });
  if (number === 1049) return gatewayError("query.unknownObject", { detail });
  return gatewayError("cluster.connectFailed", { detail });
}
