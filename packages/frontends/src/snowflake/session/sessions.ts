/**
 * The sessions of a listener. A driver shows its session's token with each request, and its master token to get a new
 * one. Sessions live here: another gateway sends their requests on by the mark in the token.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { SessionOwner, SessionState } from "./state.ts";
import { newToken, tokenDigest } from "./tokens.ts";

/** How long a session's token is taken; drivers renew it before. */
export const tokenLifeSecs = 3_600;
/** Renewals put the end off; without one the session is over. */
export const masterLifeSecs = 14_400;

const sweepMs = 30_000;

/** One session. Statements change `state`, one after the other. */
export interface LiveSession {
  readonly id: number;
  readonly owner: SessionOwner;
  state: SessionState;
  /** Digests of the tokens that are taken now. */
  token: string;
  master: string;
  tokenUntilMs: number;
  masterUntilMs: number;
  usedAtMs: number;
  /** What ends when it does. */
  readonly closing: Set<() => void>;
}

/** Tokens as the driver is told them, once. */
export interface Tokens {
  readonly token: string;
  readonly masterToken: string;
}

export interface SessionsParts {
  readonly host: Pick<Host, "clock" | "randomBytes">;
  /** Names this listener in tokens. */
  readonly mark: string;
  readonly sessionsMax: number;
  readonly idleMs: number;
}

export class Sessions {
  readonly #parts: SessionsParts;
  readonly #byToken = new Map<string, LiveSession>();
  readonly #byMaster = new Map<string, LiveSession>();
  readonly #perUser = new Map<string, number>();
  #count = 0;
  #timer: Disposable | undefined;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    this.#sweepLater();
  }

  get size(): number {
    return this.#byMaster.size;
  }

  /** A new session; refused when there are too many. */
  open(
    owner: SessionOwner,
    state: SessionState,
  ): Result<Tokens & { readonly session: LiveSession }, GatewayError> {
    const { user } = owner.login.identity;
    if (this.size >= this.#parts.sessionsMax || this.#countOf(user) >= this.#mostOfUser) {
      return err(gatewayError("connection.limit"));
    }
    this.#perUser.set(user, this.#countOf(user) + 1);
    const nowMs = this.#nowMs();
    this.#count += 1;
    const session: LiveSession = {
      id: this.#count,
      owner,
      state,
      token: "",
      master: "",
      tokenUntilMs: 0,
      masterUntilMs: 0,
      usedAtMs: nowMs,
      closing: new Set(),
    };
    return ok({ ...this.#give(session), session });
  }

  /** The session of a token. `expired`: it may be renewed. */
  find(token: string): LiveSession | "expired" | undefined {
    const session = this.#byToken.get(tokenDigest(token));
    if (session === undefined) return undefined;
    const nowMs = this.#nowMs();
    if (this.#isOver(session, nowMs)) return undefined;
    if (session.tokenUntilMs <= nowMs) return "expired";
    session.usedAtMs = nowMs;
    return session;
  }

  /** New tokens for the holder of the master token; the ones before are taken no more. */
  renew(masterToken: string): (Tokens & { readonly session: LiveSession }) | undefined {
    const session = this.#byMaster.get(tokenDigest(masterToken));
    if (session === undefined || this.#isOver(session, this.#nowMs())) return undefined;
    this.#byToken.delete(session.token);
    this.#byMaster.delete(session.master);
    return { ...this.#give(session), session };
  }

  /** Ends a session and what it holds. */
  close(session: LiveSession): void {
    this.#byToken.delete(session.token);
    if (this.#byMaster.delete(session.master)) this.#forget(session.owner.login.identity.user);
    for (const end of session.closing) end();
    session.closing.clear();
    const { pin } = session.state;
    session.state = { ...session.state, pin: undefined };
    if (pin !== undefined) void pin.end();
  }

  closeAll(): void {
    this.#timer?.[Symbol.dispose]();
    for (const session of this.#byMaster.values()) this.close(session);
  }

  /** Nobody gets more than half of them. */
  get #mostOfUser(): number {
    return Math.max(1, Math.floor(this.#parts.sessionsMax / 2));
  }

  #countOf(user: string): number {
    return this.#perUser.get(user) ?? 0;
  }

  #forget(user: string): void {
    const left = this.#countOf(user) - 1;
    if (left > 0) this.#perUser.set(user, left);
    else this.#perUser.delete(user);
  }

  #give(session: LiveSession): Tokens {
    const { host, mark } = this.#parts;
    const tokens = { token: newToken(mark, host), masterToken: newToken(mark, host) };
    const nowMs = this.#nowMs();
    session.token = tokenDigest(tokens.token);
    session.master = tokenDigest(tokens.masterToken);
    session.tokenUntilMs = nowMs + tokenLifeSecs * 1_000;
    session.masterUntilMs = nowMs + masterLifeSecs * 1_000;
    session.usedAtMs = nowMs;
    this.#byToken.set(session.token, session);
    this.#byMaster.set(session.master, session);
    return tokens;
  }

  #isOver({ masterUntilMs, usedAtMs }: LiveSession, nowMs: number): boolean {
    return masterUntilMs <= nowMs || usedAtMs + this.#parts.idleMs <= nowMs;
  }

  #sweepLater(): void {
    this.#timer = this.#parts.host.clock.timer(sweepMs, () => {
      const nowMs = this.#nowMs();
      for (const session of this.#byMaster.values()) {
        if (this.#isOver(session, nowMs)) this.close(session);
      }
      this.#sweepLater();
    });
  }

  #nowMs(): number {
    return this.#parts.host.clock.nowMs();
  }
}

/** A session of one request, which no token leads to. */
export function detachedSession(owner: SessionOwner, state: SessionState): LiveSession {
  return {
    id: 0,
    owner,
    state,
    token: "",
    master: "",
    tokenUntilMs: 0,
    masterUntilMs: 0,
    usedAtMs: 0,
    closing: new Set(),
  };
}
