/**
 * One-time links by which whoever started a process on this machine gets into its console. Each token is good
 * once, for minutes, in this process alone, which keeps only its hash.
 */
import { studioPaths } from "@gateway/contract/studioApi.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { tokenHashOf } from "../../http/secretCompare.ts";

export interface SignOnLink {
  /** Of the admin listener, with the token. Printed or answered once, never logged. */
  readonly path: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

export interface SignOnLinks {
  make(user: string): SignOnLink;
  /** The user whom the token signs on, once; undefined for one that is not known, was used or is too old. */
  take(token: string): string | undefined;
}

const linkMsMax = 10 * 60_000;
/** The oldest go first. */
const linksMax = 16;
const tokenBytes = 32;

interface Made {
  readonly user: string;
  readonly untilMs: number;
}

export function signOnLinks(
  clock: Clock,
  randomBytes: (length: number) => Uint8Array,
): SignOnLinks {
  /** By the hash of the token. Oldest first. */
  const links = new Map<string, Made>();
  return {
    make: (user) => {
      const token = Buffer.from(randomBytes(tokenBytes)).toString("base64url");
      links.set(tokenHashOf(token), { user, untilMs: clock.nowMs() + linkMsMax });
      const [oldest] = links.keys();
      if (links.size > linksMax && oldest !== undefined) links.delete(oldest);
      const path = `${studioPaths.signOnLink}?token=${token}`;
      return { path, expiresAt: clock.unixMs() + linkMsMax };
    },
    take: (token) => {
      const hash = tokenHashOf(token);
      const made = links.get(hash);
      links.delete(hash);
      return made !== undefined && clock.nowMs() < made.untilMs ? made.user : undefined;
    },
  };
}
