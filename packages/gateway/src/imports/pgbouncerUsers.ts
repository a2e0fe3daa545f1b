/** The users of PgBouncer's list as static logins. No password is written as it was found. */
import type { ListedUser } from "./ini.ts";

/** Makes what is kept of a password; undefined where none can be made. */
export interface Hashes {
  bcrypt(password: string): Promise<string | undefined>;
  /** Absent where the password itself is needed at login. */
  readonly scram?: ((password: string) => Promise<string | undefined>) | undefined;
}

interface StaticUser {
  readonly passwordHash: string | { readonly secretRef: string };
  readonly scramVerifier?: string;
}

/** By name. A secret that no hash can be made of is left to a variable, and said. */
export async function usersOf(
  users: readonly ListedUser[],
  hashes: Hashes,
  warnings: string[],
): Promise<Readonly<Record<string, StaticUser>>> {
  const made: (readonly [string, StaticUser])[] = [];
  for (const [index, user] of users.entries()) {
    made.push([user.name, await userOf(user, index, { hashes, warnings })]);
  }
  return Object.fromEntries(made);
}

async function userOf(
  { name, secret }: ListedUser,
  index: number,
  { hashes, warnings }: { readonly hashes: Hashes; readonly warnings: string[] },
): Promise<StaticUser> {
  const variable = `GATEWAY_SECRET_USER_${index + 1}`;
  const later = { secretRef: `env:${variable}` };
  const left = (why: string): void =>
    void warnings.push(
      `auth_file: ${name}: ${why}; put the output of gateway hash-password into ${variable}`,
    );
  if (secret.startsWith("SCRAM-SHA-256$")) {
    if (hashes.scram === undefined) {
      left("with a SCRAM verifier its password could not be passed on");
      return { passwordHash: later };
    }
    left("its SCRAM verifier is carried over, and a bcrypt hash is needed beside it");
    return { passwordHash: later, scramVerifier: secret };
  }
  if (/^md5[0-9a-f]{32}$/.test(secret)) {
    left("an MD5 hash is no login here");
    return { passwordHash: later };
  }
  const passwordHash = await hashes.bcrypt(secret);
  if (passwordHash === undefined) {
    left("no hash can be made of its password");
    return { passwordHash: later };
  }
  const scramVerifier = await hashes.scram?.(secret);
  return scramVerifier === undefined ? { passwordHash } : { passwordHash, scramVerifier };
}
