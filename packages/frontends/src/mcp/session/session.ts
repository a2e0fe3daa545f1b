/** The session of one call: who asks, where unqualified names lie, and what records say of the agent. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { tagPrefix } from "@gateway/core/query/tag.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import type { Agent } from "./token.ts";

/** The caller of a tool, as its request proved it. */
export interface Caller {
  readonly login: Login;
  readonly clientAddress: string;
  /** Headers that routers may look at. */
  readonly headers: ReadonlyMap<string, string>;
  /** Undefined for a request without a session. */
  readonly agent: Agent | undefined;
}

/** What a call says of its place and its purpose. */
export interface Asked {
  readonly catalog?: string | undefined;
  readonly schema?: string | undefined;
  readonly purpose?: string | undefined;
}

/** The session, in that dialect. Refuses texts of the agent that look like our own marks. */
export function sessionOf(
  { login, clientAddress, headers, agent }: Caller,
  { catalog, schema, purpose }: Asked,
  dialect: Dialect,
): Result<Session, GatewayError> {
  const tags = new Map<string, string>();
  if (agent !== undefined && agent.name !== "") {
    tags.set("agent", agent.name);
    if (agent.version !== "") tags.set("agentVersion", agent.version);
  }
  if (purpose !== undefined && purpose !== "") tags.set("purpose", purpose);
  for (const value of tags.values()) if (value.startsWith(tagPrefix)) return err(foreignTag);
  return ok({
    frontend: "mcp",
    identity: login.identity,
    credential: login.credential,
    clientAddress,
    dialect,
    catalog,
    schema,
    settings: noSettings,
    tags,
    headers,
    pin: undefined,
  });
}

/** By such a tag the gateway knows its own statements again, so nobody else may set one. */
const foreignTag = gatewayError("query.parameters", {
  message: `No name or purpose of an agent may begin with ${tagPrefix}`,
});

const noSettings: ReadonlyMap<string, string> = new Map();
