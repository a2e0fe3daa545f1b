/** Logging in to one server, and what a login may fail with: codes, and never a server's text. */
import type { Socket } from "node:net";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import {
  writePassword,
  writeSaslInitial,
  writeSaslResponse,
  writeStartup,
} from "@gateway/wire/postgres/client.ts";
import type { ServerMessage } from "@gateway/wire/postgres/server.ts";
import { Member } from "../member.ts";
import { reach, type Server } from "../reach.ts";
import { readsAsWritten } from "../reading.ts";
import { md5Answer, ScramClient } from "./scram.ts";

/** Whom a connection logs in as. */
export interface Account {
  readonly user: string;
  readonly password: Secret;
}

/** A login at a server. */
export interface Login {
  readonly server: Server;
  readonly account: Account;
  readonly database: string;
  /** Ends a login that nobody waits for any more. */
  readonly signal?: AbortSignal;
}

/** Why a login failed. `sqlState` is the server's own, where it spoke. */
export interface LoginFailure {
  readonly code: string;
  readonly sqlState: string | undefined;
}

/** What every connection begins with; a session's own settings go over it, and RESET comes back to it. */
const beginning: readonly (readonly [string, string])[] = [
  ["client_encoding", "UTF8"],
  ["DateStyle", "ISO, MDY"],
  ["TimeZone", "UTC"],
];

/** Logs in within the server's time limit. */
export async function logIn(
  { server, account, database, signal }: Login,
  host: Pick<Host, "egress" | "clock">,
): Promise<Result<Member, LoginFailure>> {
  let socket: Socket | undefined;
  let why = "";
  const leave = (code: string): void => {
    why = code;
    socket?.destroy();
  };
  using _limit = host.clock.timer(server.connectTimeoutMs, () => leave("ETIMEDOUT"));
  const abort = (): void => leave("GATEWAY_LEFT");
  signal?.addEventListener("abort", abort, { once: true });
  try {
    if (signal?.aborted === true) return err({ code: "GATEWAY_LEFT", sqlState: undefined });
    const reached = await reach(server, host, (made) => {
      socket = made;
    });
    const member = new Member(reached.stream, server);
    const failure = await greeted(member, { account, database, binding: reached.binding });
    if (failure === undefined) return ok(member);
    member.destroy();
    return err(why === "" ? failure : { code: why, sqlState: undefined });
  } catch (error) {
    socket?.destroy();
    return err({ code: why === "" ? codeOf(error) : why, sqlState: undefined });
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "GATEWAY_UNREACHED";
}

interface Greeting {
  readonly account: Account;
  readonly database: string;
  readonly binding: Uint8Array | undefined;
}

/** From the start-up packet to the server's first ReadyForQuery. */
async function greeted(member: Member, greeting: Greeting): Promise<LoginFailure | undefined> {
  const { account, database } = greeting;
  const out = new ByteWriter();
  writeStartup(out, new Map([["user", account.user], ["database", database], ...beginning]));
  member.write(out.take());
  const proof = new Proof(member, greeting);
  for (;;) {
    const message = await member.message();
    if (message === undefined) return { code: "GATEWAY_BROKEN", sqlState: undefined };
    const failure = await proof.take(message);
    if (failure !== undefined) return failure;
    if (message.kind !== "ready") continue;
    // It speaks when it is asked from here on: what follows would be taken for the first statement's answer.
    if (!member.quiet) return wrong("GATEWAY_BROKEN");
    const asked = member.encoding.charset === undefined && readsAsWritten(member.statuses);
    return asked ? undefined : wrong("GATEWAY_OTHER_TEXT");
  }
}

/** Where a login stands: what was said last. */
type Stage = "startup" | "password" | "scramFirst" | "scramLast" | "proved" | "in";
type Told = Exclude<ServerMessage, { kind: "parameterStatus" | "notification" }>;

/**
 * What a server may say at each stage. Errors and notices come at every one; whatever else comes is a server that
 * repeats itself, leaves out its own proof, or asks for another one once it has the first.
 */
const mayCome = {
  startup: new Set([
    "authenticationOk",
    "authenticationCleartext",
    "authenticationMd5",
    "authenticationSasl",
  ]),
  password: new Set(["authenticationOk"]),
  scramFirst: new Set(["authenticationSaslContinue"]),
  scramLast: new Set(["authenticationSaslFinal"]),
  proved: new Set(["authenticationOk"]),
  in: new Set(["backendKey", "ready"]),
} as const satisfies Record<Stage, ReadonlySet<Told["kind"]>>;

/** What the server asks for until it is content. */
class Proof {
  readonly #member: Member;
  readonly #greeting: Greeting;
  #scram: ScramClient | undefined;
  #stage: Stage = "startup";

  constructor(member: Member, greeting: Greeting) {
    this.#member = member;
    this.#greeting = greeting;
  }

  async take(message: Told): Promise<LoginFailure | undefined> {
    const unexpected = this.#unexpected(message);
    if (unexpected !== undefined) return unexpected;
    const { account } = this.#greeting;
    const { password } = account;
    switch (message.kind) {
      case "authenticationOk":
        this.#stage = "in";
        return undefined;
      case "authenticationCleartext":
        if (this.#member.server.tls === undefined) return wrong("GATEWAY_CLEARTEXT");
        return this.#answer("password", (out) => writePassword(out, password.reveal()));
      case "authenticationMd5":
        return this.#answer("password", (out) =>
          writePassword(out, md5Answer(account.user, password, message.salt)),
        );
      case "authenticationSasl":
        return this.#begin(message.mechanisms);
      case "authenticationSaslContinue":
        return await this.#goOn(message.body);
      case "authenticationSaslFinal":
        if (this.#scram?.proves(message.body) !== true) return wrong("GATEWAY_UNPROVED");
        this.#stage = "proved";
        return undefined;
      case "backendKey":
        this.#member.key = { process: message.process, secret: message.secret };
        return undefined;
      case "ready":
        return message.status === "I" ? undefined : wrong("GATEWAY_BROKEN");
      case "error":
        return { code: "GATEWAY_REFUSED", sqlState: message.report.get("C") };
      default:
        return undefined;
    }
  }

  #unexpected({ kind }: Told): LoginFailure | undefined {
    if (kind === "error" || kind === "notice") return undefined;
    // 3.0 without options was asked for, and no server knows less.
    if (kind === "negotiateVersion") return wrong("GATEWAY_OTHER_VERSION");
    if (kind === "authenticationOther") return wrong("GATEWAY_MECHANISM");
    const expected: ReadonlySet<string> = mayCome[this.#stage];
    if (!expected.has(kind)) {
      // A login by SCRAM is over only once the server has proved itself too.
      const owes = this.#stage === "scramFirst" || this.#stage === "scramLast";
      return wrong(owes && kind === "authenticationOk" ? "GATEWAY_UNPROVED" : "GATEWAY_BROKEN");
    }
    // Its settings come behind the login; before it, whoever stands between could say them.
    return this.#stage !== "in" && this.#member.statuses.size > 0
      ? wrong("GATEWAY_BROKEN")
      : undefined;
  }

  #begin(mechanisms: readonly string[]): LoginFailure | undefined {
    const scram = ScramClient.for(mechanisms, this.#greeting.binding);
    if (scram === undefined) return wrong("GATEWAY_MECHANISM");
    this.#scram = scram;
    return this.#answer("scramFirst", (out) =>
      writeSaslInitial(out, scram.mechanism, scram.first()),
    );
  }

  async #goOn(body: Uint8Array): Promise<LoginFailure | undefined> {
    const answer = await this.#scram?.last(body, this.#greeting.account.password);
    if (answer === undefined) return wrong("GATEWAY_BROKEN");
    return this.#answer("scramLast", (out) => writeSaslResponse(out, answer));
  }

  #answer(stage: Stage, write: (out: ByteWriter) => void): undefined {
    this.#stage = stage;
    const out = new ByteWriter();
    write(out);
    this.#member.write(out.take());
  }
}

function wrong(code: string): LoginFailure {
  return { code, sqlState: undefined };
}
