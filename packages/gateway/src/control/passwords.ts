/** bcrypt for the admin API's users, in the thread that verifies clients' passwords too. */
import { Hasher } from "@gateway/access/client/static/hasher.ts";
import type { PasswordHasher } from "@gateway/control/deps.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { Secret } from "@gateway/core/secret.ts";

/** Of a password of the admin API: shorter ones can be guessed over the network. */
export const passwordCharsMin = 12;

/** Throws when the thread has no room or died: the request is then answered as a failure of the gateway. */
export function threadPasswords(
  host: Pick<Host, "threads" | "log">,
): PasswordHasher & AsyncDisposable {
  const hasher = new Hasher(host);
  return {
    hash: async (password) => {
      const made = await hasher.make(new Secret(password));
      if (typeof made === "string") throw new Error(`no password hash: ${made}`);
      return made.hash;
    },
    matches: async (password, hash) => {
      const outcome = await hasher.compare(new Secret(password), hash);
      if (outcome === "busy" || outcome === "failed") throw new Error(`no comparison: ${outcome}`);
      return outcome === "match";
    },
    [Symbol.asyncDispose]: () => hasher[Symbol.asyncDispose](),
  };
}
