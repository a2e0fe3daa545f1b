/** Log in and renew: what opens a session, and what a driver is told of it. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { Door } from "@gateway/core/port/door.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { masterExpired } from "../errors.ts";
import { sessionRefusal, type Exchange } from "../exchange.ts";
import { sessionToken, visibleHeaders, type RequestHeaders } from "../login/headers.ts";
import { logIn, loginSchema, type LoginData } from "../login/login.ts";
import { succeeded, type Envelope } from "../page/answers.ts";
import {
  masterLifeSecs,
  tokenLifeSecs,
  type LiveSession,
  type Sessions,
  type Tokens,
} from "../session/sessions.ts";
import { newState, parametersOf, withParameter, type SessionState } from "../session/state.ts";

export interface Doorway {
  readonly door: Door;
  readonly sessions: Sessions;
}

type Opened = Tokens & { readonly session: LiveSession };

/** Drivers read it as the version of the SQL they speak with; features are asked for one by one. */
export const serverVersion = "9.0.0";

/** Judges a login and opens its session. `place`: database, schema, warehouse and role from the address. */
export async function openSession(
  body: unknown,
  place: URLSearchParams,
  { request, peer }: Exchange,
  { door, sessions }: Doorway,
): Promise<Result<Opened, GatewayError>> {
  const read = loginSchema.safeParse(body);
  if (!read.success) {
    return err(gatewayError("protocol.violation", { message: "the login is not understood" }));
  }
  const { data } = read.data;
  const login = await logIn(door, data, peer);
  if (!login.ok) return login;
  const state = stateOf(data, place);
  if (!state.ok) return state;
  const owner = {
    login: login.value,
    clientAddress: peer.address,
    headers: visibleHeaders(request.headers),
    application: [data.CLIENT_APP_ID, data.CLIENT_APP_VERSION].filter(Boolean).join(" "),
  };
  return sessions.open(owner, state.value);
}

function stateOf(data: LoginData, place: URLSearchParams): Result<SessionState, GatewayError> {
  const named = (key: string): string | undefined => place.get(key) || undefined;
  let state: Result<SessionState, GatewayError> = ok({
    ...newState,
    database: named("databaseName"),
    schema: named("schemaName"),
    warehouse: named("warehouse"),
  });
  for (const [name, value] of Object.entries(data.SESSION_PARAMETERS ?? {})) {
    if (!state.ok) return state;
    if (value !== null) state = withParameter(state.value, name, String(value));
  }
  return state;
}

/** What a driver learns at its login. */
export function loginAnswer({ token, masterToken, session }: Opened): Envelope {
  const { state, owner, id } = session;
  return succeeded({
    token,
    masterToken,
    validityInSeconds: tokenLifeSecs,
    masterValidityInSeconds: masterLifeSecs,
    displayUserName: shownName(owner.login),
    serverVersion,
    firstLogin: false,
    remMeToken: null,
    remMeValidityInSeconds: 0,
    healthCheckInterval: 45,
    newClientForUpgrade: null,
    sessionId: id,
    parameters: parametersOf(state),
    sessionInfo: {
      databaseName: state.database ?? null,
      schemaName: state.schema ?? null,
      warehouseName: state.warehouse ?? null,
      roleName: "",
    },
    idToken: null,
    idTokenValidityInSeconds: 0,
    responseData: null,
  });
}

/** The name that the client knows itself by. */
function shownName({ identity, credential }: Login): string {
  return identity.method === "engine" && credential.kind === "password"
    ? credential.user
    : identity.user;
}

/** New tokens for the holder of the master token, which the request shows in the place of the session's. */
export function renewed(headers: RequestHeaders, sessions: Sessions): Envelope {
  const token = sessionToken(headers);
  const found = token === undefined ? undefined : sessions.renew(token);
  if (found === undefined) return sessionRefusal(masterExpired);
  return succeeded({
    sessionToken: found.token,
    validityInSecondsST: tokenLifeSecs,
    masterToken: found.masterToken,
    validityInSecondsMT: masterLifeSecs,
    sessionId: found.session.id,
  });
}
