/**
 * The session of an agent as a sealed token: what `Mcp-Session-Id` holds.
 *
 * It says who the agent says it is, and proves nothing: every request shows its own credential. Nothing of it is
 * kept here, so every process with the same key can read it, and ending one is the client's to forget.
 */
import { timingSafeEqual } from "node:crypto";
import type { Sealer } from "@gateway/core/handle/seal.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { fleetSealer, userMarkOf } from "../../listener/sealer.ts";

/** What an agent said of itself when it began. */
export interface Agent {
  readonly name: string;
  readonly version: string;
}

/** A session as its token tells it. */
export interface AgentSession extends Agent {
  /** Tells sessions of one user apart. */
  readonly nonce: string;
  /** The mark of the gateway that began it. */
  readonly home: string | undefined;
}

/** A client that was told that its session is unknown begins a new one, so a day costs nobody anything. */
const lifeMs = 24 * 3_600_000;
const nonceBytes = 9;
/** Longer texts are cut: the token travels with every request, and each record gets a copy of both. */
const nameLengthMax = 128;
const versionLengthMax = 64;
const purpose = "mcp session";
const bound = "mcp session 1";

type TokenHost = Pick<Host, "clock" | "randomBytes" | "fleetKeys">;

/** Seals and opens them: for a whole fleet where it shares keys, otherwise for one listener. */
export class SessionTokens {
  readonly #sealer: Sealer;
  readonly #host: TokenHost;

  constructor(host: TokenHost) {
    this.#sealer = fleetSealer(host, purpose);
    this.#host = host;
  }

  /** A new session of that user, which begins at `home`. */
  seal(user: string, { name, version }: Agent, home?: string): string {
    const facts = [
      userMarkOf(user).toString("base64url"),
      this.#host.clock.unixMs() + lifeMs,
      Buffer.from(this.#host.randomBytes(nonceBytes)).toString("base64url"),
      cut(name, nameLengthMax),
      cut(version, versionLengthMax),
      home ?? null,
    ];
    return this.#sealer.seal(Buffer.from(JSON.stringify(facts)), bound);
  }

  /** The session; undefined, whatever the reason, for one that is forged, expired or another user's. */
  open(token: string, user: string): AgentSession | undefined {
    const bytes = this.#sealer.open(token, bound);
    if (bytes === undefined) return undefined;
    const [mark, expiresAtMs, nonce, name, version, home] = JSON.parse(
      Buffer.from(bytes).toString("utf8"),
    ) as readonly [string, number, string, string, string, string | null | undefined];
    if (!(expiresAtMs > this.#host.clock.unixMs())) return undefined;
    const isTheirs = timingSafeEqual(Buffer.from(mark, "base64url"), userMarkOf(user));
    return isTheirs ? { nonce, name, version, home: home ?? undefined } : undefined;
  }
}

/** By characters and not by halves of one. */
function cut(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : text.slice(0, lengthMax).toWellFormed();
}
