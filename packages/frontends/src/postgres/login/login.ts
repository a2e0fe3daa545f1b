/**
 * The login of one connection: which credential the client is asked for, and what each of its answers leads
 * to. It sends nothing, and the door decides who the client is.
 *
 * A verified certificate comes first, then SCRAM where the user has a verifier, then the password in clear
 * text where the connection may carry one.
 */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { ErrorCode } from "@gateway/contract/error.ts";
import type { Login, Presented } from "@gateway/core/port/authenticator.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { Secret } from "@gateway/core/secret.ts";
import { parsePassword, parseSaslInitial } from "@gateway/wire/postgres/frontend.ts";
import type { BackendMessage } from "@gateway/wire/postgres/message.ts";
import type { Connection } from "../../listener/connection.ts";
import { mayTakeCredentials } from "../../listener/tls.ts";
import { frontendKind } from "./handshake.ts";
import { ScramExchange, scramFinal, type ScramRefusal } from "./scram.ts";
import { passwordError, protocolError } from "../violations.ts";

export interface LoginParts {
  readonly door: Door;
  readonly host: Host;
  readonly connection: Connection;
  readonly user: string;
}

export type LoginStep =
  /** The client is asked, and answers with a password message. */
  | { readonly kind: "ask"; readonly message: BackendMessage }
  /** The client proved who it is; `message` is sent before anything else. */
  | {
      readonly kind: "admitted";
      readonly login: Login;
      readonly message: BackendMessage | undefined;
    }
  | { readonly kind: "refused"; readonly error: GatewayError };

const nonceBytes = 18;

export class LoginExchange {
  readonly #parts: LoginParts;
  #scram: ScramExchange | undefined;
  /** We answered the client's first message of SCRAM. */
  #challenged = false;

  constructor(parts: LoginParts) {
    this.#parts = parts;
  }

  /** Lets the client in at once, or asks it for something. */
  async begin(): Promise<LoginStep> {
    const { door, host, connection, user } = this.#parts;
    if (!door.asksPassword) return await this.#present({ kind: "nothing", user, asked: true });
    const names = connection.certificateNames();
    if (names.length > 0) return await this.#present({ kind: "certificate", user, names });
    const challenge = door.scram?.(user);
    if (challenge !== undefined) {
      const nonce = Buffer.from(host.randomBytes(nonceBytes)).toString("base64");
      const binding = connection.channelBinding();
      this.#scram = new ScramExchange({ challenge, nonce, binding });
      const { mechanisms } = this.#scram;
      return { kind: "ask", message: { kind: "authenticationSasl", mechanisms } };
    }
    if (!mayTakeCredentials(connection)) return this.#unjudged("auth.cleartext", "password");
    return { kind: "ask", message: { kind: "authenticationCleartext" } };
  }

  /** Takes the body of a password message. */
  async answer(body: Uint8Array): Promise<LoginStep> {
    const { user } = this.#parts;
    if (this.#scram !== undefined) return await this.#answerScram(this.#scram, body);
    const password = parsePassword(body);
    if (password === undefined) return refused(protocolError("invalid message format: Password"));
    return await this.#present({ kind: "password", user, password: new Secret(password) });
  }

  async #answerScram(scram: ScramExchange, body: Uint8Array): Promise<LoginStep> {
    if (!this.#challenged) {
      const initial = parseSaslInitial(body);
      if (initial?.data === undefined) return refused(scramError("malformed"));
      const answer = scram.first(initial.mechanism, initial.data);
      if (typeof answer !== "string") return this.#unproved(answer.refusal);
      this.#challenged = true;
      const text = Buffer.from(answer, "utf8");
      return { kind: "ask", message: { kind: "authenticationSaslContinue", body: text } };
    }
    const proof = scram.last(body);
    if ("refusal" in proof) return this.#unproved(proof.refusal);
    return await this.#present({ kind: "scram", user: this.#parts.user, ...proof });
  }

  #unproved(refusal: ScramRefusal): LoginStep {
    const error = scramError(refusal);
    return refusal === "binding" ? this.#unjudged(error.code, "scram", error) : refused(error);
  }

  /** Refuses before the door could judge a credential, and reports that to the door. */
  #unjudged(code: ErrorCode, kind: Presented["kind"], error = gatewayError(code)): LoginStep {
    const { door, connection, user } = this.#parts;
    const { address } = connection;
    door.refused(code, { kind, user }, { frontend: frontendKind, address });
    return refused(error);
  }

  async #present(presented: Presented): Promise<LoginStep> {
    const { door, connection, user } = this.#parts;
    const { address } = connection;
    connection.credentialShown();
    const login = await door.authenticate(presented, { frontend: frontendKind, address });
    if (!login.ok) {
      return refused(
        login.error.code === "auth.refused" ? refusalOf(presented, user) : login.error,
      );
    }
    const signature = login.value.serverSignature;
    const message: BackendMessage | undefined = signature && {
      kind: "authenticationSaslFinal",
      body: scramFinal(signature),
    };
    return { kind: "admitted", login: login.value, message };
  }
}

function refusalOf({ kind }: Presented, user: string): GatewayError {
  if (kind !== "certificate") return passwordError(user);
  const message = `certificate authentication failed for user "${user}"`;
  return gatewayError("auth.refused", { sqlState: "28000", message });
}

function scramError(refusal: ScramRefusal): GatewayError {
  switch (refusal) {
    case "malformed":
      return protocolError("malformed SCRAM message");
    case "binding":
      return gatewayError("auth.refused", {
        sqlState: "28000",
        message: "SCRAM channel binding check failed",
      });
  }
}

function refused(error: GatewayError): LoginStep {
  return { kind: "refused", error };
}
