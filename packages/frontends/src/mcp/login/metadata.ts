/**
 * What tells an agent how to get a token: OAuth 2.0 Protected Resource Metadata (RFC 9728) and the challenge that
 * names it (MCP authorization, "Authorization Server Location"). The document is public and says nothing of a user.
 */
import type { Door } from "@gateway/core/port/door.ts";

/** Where the protocol is served. */
export const endpointPath = "/mcp";

const wellKnown = "/.well-known/oauth-protected-resource";

/** RFC 9728 §3.1: the path of the resource comes behind; clients that know no path ask at the root. */
export const metadataPaths: ReadonlySet<string> = new Set([wellKnown, wellKnown + endpointPath]);

type TokenDoor = Pick<Door, "takesTokens" | "tokenIssuer" | "asksPassword">;

/** The document for clients that reach us at `baseUrl`; undefined where no token is a credential. */
export function resourceMetadata(door: TokenDoor, baseUrl: string): object | undefined {
  const { tokenIssuer } = door;
  if (door.takesTokens !== true || tokenIssuer === undefined) return undefined;
  return {
    resource: baseUrl + endpointPath,
    authorization_servers: [tokenIssuer],
    bearer_methods_supported: ["header"],
    resource_name: "Query gateway",
  };
}

/**
 * What a client may log in by, the token first: clients of MCP read the first challenge only. `wrong`: a credential
 * was shown and refused (RFC 6750 §3.1).
 */
export function challengesOf(door: TokenDoor, baseUrl: string, wrong: boolean): readonly string[] {
  const basic = 'Basic realm="mcp", charset="UTF-8"';
  if (door.takesTokens !== true) return [basic];
  const metadata =
    door.tokenIssuer === undefined
      ? ""
      : `, resource_metadata="${baseUrl}${wellKnown}${endpointPath}"`;
  const error = wrong ? ', error="invalid_token"' : "";
  return [`Bearer realm="mcp"${error}${metadata}`, basic];
}
