/** A connection as statements of MySQL's own clients take it, and what has to be known of it to give it to another. */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { ByteReader } from "@gateway/wire/mysql/byteReader.ts";
import { commandCode } from "@gateway/wire/mysql/protocol.ts";
import { ask } from "../../starRocks/client/control.ts";
import { readsPlainly } from "../../starRocks/client/connect.ts";
import type { Account, Server } from "../../starRocks/client/login.ts";
import { loginNames, type Member } from "../../starRocks/client/member.ts";
import { stands, variablesOf } from "../../starRocks/client/session.ts";
import { quoteIdentifier } from "../../starRocks/sql/quote.ts";
import { commandPackets, Packets } from "../../starRocks/page/packets.ts";

/** How long a server may take to clean a connection before it is thrown away. */
const cleaningMs = 5_000;
const ignoringSpace = "SET sql_mode = concat(@@sql_mode, ',IGNORE_SPACE')";

export interface SeatParts {
  readonly member: Member;
  /** Where it is, for what ends its statements. */
  readonly server: Server;
  /** Whose login it is. */
  readonly account: Account;
  /** Connections of one key are as good as each other; undefined for one that nobody else may have. */
  readonly key: string | undefined;
  /** Its login asked for it, and a cleaned connection may have forgotten it. */
  readonly ignoreSpace: boolean;
}

interface Standing extends Pick<Session, "settings" | "schema" | "frontend"> {
  readonly names: string;
  readonly database: string | undefined;
}

export class Seat {
  readonly member: Member;
  readonly server: Server;
  readonly account: Account;
  readonly key: string | undefined;
  readonly #ignoreSpace: boolean;
  /** Something may be left on it: it is cleaned before another session has it. */
  used = false;
  /** Others of its session that have it too, while a cursor waits on it. The last of all gives it back. */
  guests = 0;
  /** Cursors that wait on it for their next fetch. */
  waiting = 0;
  /** The same of its transaction, which end with it. */
  bound = 0;
  #busy = false;
  readonly #resting: (() => void)[] = [];
  /** Where it was found to stand for these settings, without variables of its own. */
  #stood: Standing | undefined;
  /** It is a session's own, and does not go back to the pool with its statement or transaction. */
  kept = false;

  constructor({ member, server, account, key, ignoreSpace }: SeatParts) {
    this.member = member;
    this.server = server;
    this.account = account;
    this.key = key;
    this.#ignoreSpace = ignoreSpace;
  }

  /** A statement runs on it, or its rows are not all read. A cursor that waits for a fetch leaves it at rest. */
  get busy(): boolean {
    return this.#busy;
  }

  set busy(busy: boolean) {
    this.#busy = busy;
    if (!busy && this.#resting.length > 0) for (const go of this.#resting.splice(0)) go();
  }

  /** When what runs on it now is over. Who waits looks again: another one may have come first. */
  rested(): Promise<void> {
    return new Promise((resolve) => {
      this.#resting.push(resolve);
    });
  }

  /** Whether another session may have it as it is. */
  get clean(): boolean {
    return !this.used && !this.member.tainted;
  }

  /** True where its connection is where the session stands. Mostly the same settings ask for the same connection again. */
  stands(session: Pick<Session, "schema" | "settings" | "frontend">, database?: string): boolean {
    const { member } = this;
    const { schema, settings, frontend } = session;
    const stood = this.#stood;
    // What is told by identity is as it was: settings are another map once one of them changes.
    if (
      stood?.settings === settings &&
      stood.schema === schema &&
      stood.frontend === frontend &&
      stood.names === member.names &&
      stood.database === member.database &&
      member.variables.size === 0
    )
      return true;
    if (!stands(member, session, database)) return false;
    const { names } = member;
    if (member.variables.size === 0)
      this.#stood = { settings, schema, frontend, names, database: member.database };
    return true;
  }

  /** Variables that stand on it and are none of the session's. */
  others(session: Pick<Session, "settings" | "frontend">): readonly string[] {
    const wanted = variablesOf(session);
    return [...this.member.variables.keys()].filter((name) => !wanted.has(name));
  }

  /** COM_RESET_CONNECTION: ends a transaction, locks, variables, temporary tables. False: it is closed instead. */
  async cleaned(clock: Clock): Promise<boolean> {
    const { member } = this;
    if (!member.open) return false;
    const limit = new AbortController();
    using _limit = clock.timer(cleaningMs, () => {
      member.destroy();
      limit.abort();
    });
    member.send(commandPackets(commandCode.resetConnection, ""));
    const answer = await new Packets(() => member.next()).one();
    // Servers that do not know the command say so, and nothing else may be left of the answer.
    const done = answer !== undefined && answer.payload[0] === 0 && isOk(answer.payload);
    if (!done || !member.open) return false;
    member.variables.clear();
    member.limit = undefined;
    // Character sets are the server's own behind it, and not those of the login.
    const named = await ask(member, `SET NAMES ${loginNames}`, limit.signal);
    if (this.#ignoreSpace && !(await ask(member, ignoringSpace, limit.signal)).ok) return false;
    if (!(await usesAgain(member, limit.signal))) return false;
    if (!named.ok || (await readsPlainly(member, limit.signal)) !== undefined) return false;
    member.names = loginNames;
    member.results = undefined;
    this.used = false;
    member.tainted = false;
    return member.open;
  }
}

/** Servers keep the database, and forget in which set it is (`@@character_set_database`) until it is chosen again. */
async function usesAgain(member: Member, signal: AbortSignal): Promise<boolean> {
  const { database } = member;
  if (database === undefined) return true;
  return (await ask(member, `USE ${quoteIdentifier(database)}`, signal)).ok;
}

function isOk(payload: Uint8Array): boolean {
  const reader = new ByteReader(payload, 1);
  reader.lenenc();
  reader.lenencBig();
  reader.u16();
  reader.u16();
  return !reader.failed;
}
