/**
 * Who sent a request. Nothing here is believed: the door verifies. ClickHouse knows four places for a credential, and
 * a request that uses two of them is refused, so that no two readers see two names.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login, Presented, PresentedAt } from "@gateway/core/port/authenticator.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import type { HttpRequest } from "../../listener/http/exchange.ts";
import { PlainRequest } from "../../listener/http/plain/request.ts";
import type { LinesMemo } from "../../listener/http/plain/sameLines.ts";

/** What a login is judged by. */
export interface Sender {
  readonly headers: IncomingHttpHeaders;
  /** Fields of the address. */
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly address: string;
  /** Names of the client's verified certificate; empty where none is asked for. */
  readonly certificateNames: readonly string[];
  readonly mayTakeCredentials: boolean;
  /** Of its headers. */
  readonly memo: LinesMemo | undefined;
}

/** How long a request waits for a first configuration before it is told to come again. */
const patienceMs = 2_000;

/** These decide who is asking or what is read, so each comes once or not at all. */
const once: ReadonlySet<string> = new Set([
  "authorization",
  "host",
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "x-clickhouse-user",
  "x-clickhouse-key",
  "x-clickhouse-database",
  "x-clickhouse-format",
  "x-clickhouse-query-id",
]);

const fine = ok<void>(undefined);

/** Refuses a request whose headers can be read in two ways. */
export function checkHeaders(
  request: HttpRequest,
  memo: LinesMemo | undefined,
): Result<void, GatewayError> {
  if (memo?.checked !== undefined) return memo.checked;
  const checked = checkedHeaders(request);
  if (memo !== undefined) memo.checked = checked;
  return checked;
}

function checkedHeaders(request: HttpRequest): Result<void, GatewayError> {
  const { rawHeaders } = request;
  // There each name comes once.
  const seen = request instanceof PlainRequest ? undefined : new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] ?? "";
    if (sent.includes("_") && alike(sent).startsWith("x-clickhouse-")) {
      return err(violation("header names are written with hyphens"));
    }
    if (seen === undefined) continue;
    const name = sent.toLowerCase();
    if (seen.has(name)) return err(violation(`the header ${name} came twice`));
    if (once.has(name)) seen.add(name);
  }
  return fine;
}

/** As a server may read it that takes an underscore for a hyphen. */
function alike(name: string): string {
  return name.toLowerCase().replaceAll("_", "-");
}

/** Judges the credential of a request. A promise only where it was not verified a moment ago. */
export function logIn(
  door: Pick<Door, "authenticate" | "recall" | "refused">,
  sender: Sender,
): Promise<Result<Login, GatewayError>> | Result<Login, GatewayError> {
  const presented = presentedAgain(sender);
  const at: PresentedAt = { frontend: "clickhouseHttp", address: sender.address, patienceMs };
  if (!presented.ok) return refused(door, presented.error, { sender, at, kind: "nothing" });
  const { kind } = presented.value;
  if (kind !== "nothing" && !sender.mayTakeCredentials) {
    return refused(door, gatewayError("auth.cleartext"), { sender, at, kind });
  }
  const known = door.recall?.(presented.value);
  return known === undefined ? door.authenticate(presented.value, at) : ok(known);
}

interface Refused {
  readonly sender: Sender;
  readonly at: PresentedAt;
  readonly kind: Presented["kind"];
}

function refused(
  door: Pick<Door, "refused">,
  error: GatewayError,
  { sender, at, kind }: Refused,
): Result<never, GatewayError> {
  door.refused(error.code, { kind, user: claimedUser(sender) }, at);
  return err(error);
}

function presentedAgain(sender: Sender): Result<Presented, GatewayError> {
  const { memo, user, password } = sender;
  if (memo === undefined || user !== undefined || password !== undefined) {
    return presentedBy(sender);
  }
  return (memo.presented ??= presentedBy(sender));
}

/** What the request shows: the one place that holds a credential, otherwise its connection's certificate. */
export function presentedBy(sender: Sender): Result<Presented, GatewayError> {
  const { headers, user, password, certificateNames } = sender;
  const headerUser = one(headers["x-clickhouse-user"]);
  const key = one(headers["x-clickhouse-key"]);
  const authorization = one(headers.authorization);
  const inHeaders = headerUser !== undefined || key !== undefined;
  const inAddress = user !== undefined || password !== undefined;
  const places = Number(authorization !== undefined) + Number(inHeaders) + Number(inAddress);
  if (places > 1) return err(gatewayError("auth.refused"));
  if (authorization !== undefined) return fromAuthorization(authorization);
  const name = headerUser ?? user;
  const secret = key ?? password;
  if (secret !== undefined) {
    return ok({ kind: "password", user: name ?? defaultUser, password: new Secret(secret) });
  }
  return certificateNames.length === 0
    ? ok({ kind: "nothing", user: name, asked: false })
    : ok({ kind: "certificate", user: name, names: certificateNames });
}

/** As whom ClickHouse sees a client that names nobody. */
const defaultUser = "default";

function fromAuthorization(authorization: string): Result<Presented, GatewayError> {
  const space = authorization.indexOf(" ");
  const scheme = authorization.slice(0, space).toLowerCase();
  const shown = authorization.slice(space + 1).trim();
  if (space < 0 || shown === "") return err(gatewayError("auth.refused"));
  if (scheme === "bearer") {
    return ok({ kind: "bearer", token: new Secret(shown), claimedUser: undefined });
  }
  if (scheme !== "basic" || !/^[A-Za-z0-9+/]+=*$/.test(shown)) {
    return err(gatewayError("auth.refused"));
  }
  const text = Buffer.from(shown, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon <= 0) return err(gatewayError("auth.refused"));
  const password = new Secret(text.slice(colon + 1));
  return ok({ kind: "password", user: text.slice(0, colon), password });
}

function claimedUser({ headers, user }: Sender): string | undefined {
  return one(headers["x-clickhouse-user"]) ?? user;
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}

function violation(message: string): GatewayError {
  return gatewayError("protocol.violation", { message });
}
