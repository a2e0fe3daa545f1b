/** The body of a login: who says to be whom, and by which proof. Nothing here is believed: the door verifies. */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login, Presented } from "@gateway/core/port/authenticator.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { z } from "zod";

const text = z.string().max(65_536);
const parameter = z.union([z.string().max(4_096), z.number(), z.boolean(), z.null()]);

/** The part of a login's body that is looked at; drivers send more about themselves. */
export const loginSchema = z.object({
  data: z.object({
    LOGIN_NAME: text.nullish(),
    /** The account that the driver was told to connect to. */
    ACCOUNT_NAME: z.string().max(256).nullish(),
    PASSWORD: text.nullish(),
    TOKEN: text.nullish(),
    AUTHENTICATOR: z.string().max(2_048).nullish(),
    CLIENT_APP_ID: z.string().max(256).nullish(),
    CLIENT_APP_VERSION: z.string().max(256).nullish(),
    SESSION_PARAMETERS: z.record(z.string().max(256), parameter).nullish(),
  }),
});

export type LoginData = z.output<typeof loginSchema>["data"];

/** What a login is judged by, beside its body. */
export interface Sender {
  readonly address: string;
  /** Names of the client's verified certificate; empty where none is asked for. */
  readonly certificateNames: readonly string[];
  readonly mayTakeCredentials: boolean;
}

/** How long a login waits for a first configuration before it is told to come again. */
const patienceMs = 2_000;

/** Judges the credential of a login. */
export async function logIn(
  door: Pick<Door, "authenticate" | "refused">,
  data: LoginData,
  sender: Sender,
): Promise<Result<Login, GatewayError>> {
  const at = { frontend: "snowflakeHttp", address: sender.address, patienceMs };
  const presented = presentedBy(data, sender.certificateNames);
  const refuse = (error: GatewayError, kind: Presented["kind"]): Result<never, GatewayError> => {
    door.refused(error.code, { kind, user: data.LOGIN_NAME ?? undefined }, at);
    return err(error);
  };
  if (!presented.ok) return refuse(presented.error, "nothing");
  const { kind } = presented.value;
  if (kind !== "nothing" && kind !== "certificate" && !sender.mayTakeCredentials) {
    return refuse(gatewayError("auth.cleartext"), kind);
  }
  return door.authenticate(presented.value, at);
}

function presentedBy(
  { ACCOUNT_NAME, AUTHENTICATOR, LOGIN_NAME, PASSWORD, TOKEN }: LoginData,
  names: readonly string[],
): Result<Presented, GatewayError> {
  const user = LOGIN_NAME ?? undefined;
  switch ((AUTHENTICATOR ?? "SNOWFLAKE").toUpperCase()) {
    case "SNOWFLAKE":
    case "USERNAME_PASSWORD_MFA":
      if (user !== undefined && PASSWORD) {
        const account = ACCOUNT_NAME ?? undefined;
        return ok({ kind: "password", user, password: new Secret(PASSWORD), account });
      }
      if (names.length > 0) return ok({ kind: "certificate", user, names });
      return ok({ kind: "nothing", user, asked: false });
    case "OAUTH":
    case "PROGRAMMATIC_ACCESS_TOKEN":
      if (!TOKEN) return err(gatewayError("auth.refused"));
      return ok({ kind: "bearer", token: new Secret(TOKEN), claimedUser: user });
    case "SNOWFLAKE_JWT":
      if (!TOKEN) return err(gatewayError("auth.refused"));
      return ok({ kind: "keyPair", token: new Secret(TOKEN), user });
    default:
      return err(
        gatewayError("auth.refused", {
          message:
            "This way to log in is not offered here: use a user name with a password, a key pair, or an OAuth token.",
        }),
      );
  }
}

/** How a request of the SQL API says what its token is (`X-Snowflake-Authorization-Token-Type`). */
const tokenTypes: Readonly<Record<string, "keyPair" | "bearer">> = {
  KEYPAIR_JWT: "keyPair",
  OAUTH: "bearer",
  PROGRAMMATIC_ACCESS_TOKEN: "bearer",
};

/** The credential in a token of the SQL API; undefined where its type is none of those. Without a type the token itself tells. */
export function presentedToken(token: string, type: string | undefined): Presented | undefined {
  const kind = type === undefined ? kindOf(token) : tokenTypes[type.toUpperCase()];
  if (kind === undefined) return undefined;
  const secret = new Secret(token);
  return kind === "keyPair"
    ? { kind, token: secret, user: undefined }
    : { kind, token: secret, claimedUser: undefined };
}

/** Only tokens of key pairs have the fingerprint of a key as their issuer. What it says is believed by nobody yet. */
function kindOf(token: string): "keyPair" | "bearer" {
  const [, body = ""] = token.split(".");
  try {
    const { iss } = JSON.parse(Buffer.from(body, "base64url").toString("utf8")) as { iss: unknown };
    return typeof iss === "string" && iss.includes(".SHA256:") ? "keyPair" : "bearer";
  } catch {
    return "bearer";
  }
}
