/** Who gets which connection: the session's own where it has one, otherwise one of the pool's, as the query's identity. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Home } from "@gateway/core/query/home.ts";
import type { MysqlCall } from "@gateway/core/query/mysqlCall.ts";
import { noBackendIdentity } from "@gateway/core/query/identity.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { onDispose } from "@gateway/core/tool/onDispose.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import type { Refused } from "../../connect/logins.ts";
import { connected } from "../../starRocks/client/connect.ts";
import type { Account, LoginFailure, Server } from "../../starRocks/client/login.ts";
import type { Member } from "../../starRocks/client/member.ts";
import type { Called } from "../admission.ts";
import { Seat } from "./seat.ts";
import type { SeatPool } from "./seatPool.ts";

export interface SeatingParts {
  readonly cluster: string;
  readonly servers: readonly Server[];
  readonly pool: SeatPool;
  readonly host: Pick<Host, "egress" | "clock">;
  readonly database: string | undefined;
  readonly localFiles: boolean;
}

/** As whom a connection logs in; `own` where nobody else may have it afterwards. */
export interface Login {
  readonly account: Account;
  readonly own: boolean;
  /** What a login's failure is to the client. */
  readonly errorOf: (failure: LoginFailure) => GatewayError;
}

export class Seating {
  readonly #parts: SeatingParts;
  readonly #kept = new WeakMap<Home, Seat>();
  /** Seats on which cursors of a session wait, one entry for each. */
  readonly #lent = new WeakMap<Home, Seat[]>();
  /** What the server said of itself when a connection was made last. */
  greeted: Member["greeted"] | undefined;

  constructor(parts: SeatingParts) {
    this.#parts = parts;
  }

  async take(
    query: Called,
    login: Login,
    signal: AbortSignal,
  ): Promise<Result<Seat, GatewayError>> {
    const { home } = query.mysql;
    const kept = this.#keptOf(home);
    if (kept?.ok === true && kept.value.account.user !== login.account.user) {
      const { backendIdentity, group } = query;
      const detail = "the session's connection is another's";
      return err(noBackendIdentity(backendIdentity.mode, group, { detail }));
    }
    if (kept !== undefined) return kept;
    const { database } = this.#parts;
    const { schema } = query.session;
    const { foundRows, ignoreSpace } = query.mysql;
    const flags = { foundRows, ignoreSpace };
    const key = login.own ? undefined : keyOf(flags);
    const lent = this.#lentTo(home, key, schema ?? database);
    if (lent !== undefined) return ok(lent);
    for (;;) {
      const make = () => this.#connect(login, { flags, database: schema ?? database }, signal);
      const taken = await this.#parts.pool.take(key, make, signal);
      if (!taken.ok) return taken;
      // There is no way back to standing in no database.
      const seat = taken.value;
      const fits = (schema ?? database) !== undefined || seat.member.database === undefined;
      // Another session's variables go as everything that it left goes.
      const alike = seat.others(query.session).length === 0;
      if (fits && (alike || (await seat.cleaned(this.#parts.host.clock)))) return taken;
      seat.member.destroy();
      await this.#parts.pool.giveBack(seat);
    }
  }

  /** A connection of the pool's that is at rest where the session stands, for one that has none of its own; undefined otherwise. */
  takenNow({ mysql, session }: Called, signal: AbortSignal): Seat | undefined {
    if (mysql.home.kept !== undefined || signal.aborted) return undefined;
    const { pool, database } = this.#parts;
    return pool.takenNow(keyOf(mysql), session, database);
  }

  /** Makes a connection the session's own until the session is over. */
  keep(seat: Seat, home: Home, reason: string): GatewayError | undefined {
    if (home.over) return gatewayError("query.cancelled");
    const refused = this.#parts.pool.keep(seat);
    if (refused !== undefined) return refused;
    seat.used = true;
    this.#kept.set(home, seat);
    home.keep({
      cluster: this.#parts.cluster,
      reason,
      release: async () => {
        this.#kept.delete(home);
        await this.#parts.pool.giveBack(seat);
      },
    });
    return undefined;
  }

  /** Gives back what is not the session's own, when the last who has it leaves. */
  leave(seat: Seat): Promise<void> | undefined {
    if (seat.guests === 0) return seat.kept ? undefined : this.#parts.pool.giveBack(seat);
    seat.guests -= 1;
    return undefined;
  }

  /** A cursor waits on the seat: others of its session may run there until this is disposed. */
  lend(seat: Seat, home: Home): Disposable {
    const lent = this.#lent.get(home) ?? [];
    this.#lent.set(home, lent);
    lent.push(seat);
    seat.waiting += 1;
    return onDispose(() => {
      lent.splice(lent.indexOf(seat), 1);
      seat.waiting -= 1;
    });
  }

  /** Where all places are taken, a seat on which a cursor of the same session waits. Whoever waited for it would wait for itself. */
  #lentTo(home: Home, key: string | undefined, database: string | undefined): Seat | undefined {
    if (key === undefined || !this.#parts.pool.full) return undefined;
    const found = this.#lent.get(home)?.find(({ member, busy, key: theirs }) => {
      const fits = database !== undefined || member.database === undefined;
      return fits && !busy && member.open && theirs === key;
    });
    if (found !== undefined) found.guests += 1;
    return found;
  }

  /** The session's connection. An error where it had one here that is gone, once: what it held is lost. */
  #keptOf(home: Home): Result<Seat, GatewayError> | undefined {
    if (home.kept?.cluster !== this.#parts.cluster) return undefined;
    const seat = this.#kept.get(home);
    if (seat?.member.open === true) return ok(seat);
    const { kept } = home;
    home.forget();
    if (seat !== undefined) void kept.release();
    const message = `the connection that kept ${kept.reason} for this session is gone`;
    return err(gatewayError("engine.broken", { message }));
  }

  /** The first server that takes the login. A refused one is tried on no other. */
  async #connect(
    { account, own, errorOf }: Login,
    { flags: asked, database }: { readonly flags: Flags; readonly database: string | undefined },
    signal: AbortSignal,
  ): Promise<Result<Seat, Refused>> {
    const { servers, host, localFiles } = this.#parts;
    const flags = [
      // To which the server's own setting is to be added.
      ...(localFiles ? [] : ["-LOCAL_FILES"]),
      ...(asked.ignoreSpace ? [] : ["-IGNORE_SPACE"]),
      ...(asked.foundRows ? [] : ["-FOUND_ROWS"]),
      "PS_MULTI_RESULTS",
    ];
    let failure: LoginFailure = { code: "GATEWAY_NO_HOST", number: undefined, sqlState: undefined };
    for (const server of servers) {
      const made = await connected(
        {
          server,
          account,
          database,
          flags,
          attributes: true,
          needed: neededFor(asked),
          ...(own ? { signal } : {}),
        },
        host,
      );
      if (made.ok) {
        this.greeted = made.value.greeted;
        const key = own ? undefined : keyOf(asked);
        const { ignoreSpace } = asked;
        return ok(new Seat({ member: made.value, server, account, key, ignoreSpace }));
      }
      if (signal.aborted) return err({ error: gatewayError("query.cancelled"), full: false });
      // A server that has no place now has one soon: that is worth more to know than that another is away.
      if (!isFull(failure)) failure = made.error;
      if (made.error.number !== undefined && !isFull(made.error)) break;
    }
    return err({ error: errorOf(failure), full: isFull(failure) });
  }
}

/** Too many connections: of the server, of the account in it, or by the account's own limit. */
const fullNumbers: ReadonlySet<number | undefined> = new Set([1040, 1203, 1226]);

function isFull({ number }: LoginFailure): boolean {
  return fullNumbers.has(number);
}

/** What a client's login asks of its connection for good. */
type Flags = Pick<MysqlCall, "foundRows" | "ignoreSpace">;

/**
 * What a server has to grant, or its answers would mean something else: its status, the ways of proving a password, and
 * the rows that it counts. One that has no several results says so to the statement that makes them, and one that does
 * not read blanks before brackets says so as it does to a client of its own, which asks for that whatever it speaks to.
 */
function neededFor({ foundRows }: Pick<Flags, "foundRows">): number {
  const asked = foundRows ? capability.foundRows : 0;
  return capability.transactions | capability.pluginAuth | asked;
}

function keyOf({ foundRows, ignoreSpace }: Flags): string {
  // No text is made, and hashed, for each query.
  if (foundRows) return ignoreSpace ? "true true" : "true false";
  return ignoreSpace ? "false true" : "false false";
}
