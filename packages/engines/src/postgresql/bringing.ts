/** Brings a connection where the session stands whose statement runs there next. */
import type { GatewayError } from "@gateway/core/error.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { ask } from "./client/ask.ts";
import type { Member } from "./client/member.ts";
import { encodingOf, unwritable } from "./client/reading.ts";
import { bring, encode, isBrought } from "./client/settings.ts";

/** What a statement runs with, as far as that says what stays on its connection. */
interface Places {
  readonly pins: "asked" | "always" | undefined;
  readonly prepares: { readonly shared: boolean } | undefined;
}

/**
 * Brings the connection where the session stands. One that each session has of its own is brought there once: from
 * then on its client's settings are the server's.
 */
export function brought(
  member: Member,
  query: Identified,
  context: Places,
  signal: AbortSignal,
): Promise<GatewayError | undefined> | undefined {
  const leaving = withoutOthers(member, query, signal);
  if (leaving !== undefined) {
    return leaving.then((others) => others ?? broughtAlone(member, query, context, signal));
  }
  return broughtAlone(member, query, context, signal);
}

function broughtAlone(
  member: Member,
  query: Identified,
  context: Places,
  signal: AbortSignal,
): Promise<GatewayError | undefined> | undefined {
  const encoding = encode(member, query.session, signal);
  if (encoding === undefined) return broughtEncoded(member, query, context, signal);
  return encoding.then((refused) => refused ?? broughtEncoded(member, query, context, signal));
}

function broughtEncoded(
  member: Member,
  query: Identified,
  { pins, prepares }: Places,
  signal: AbortSignal,
): Promise<GatewayError | undefined> | undefined {
  const unwritten = unwritable(member, query.engineSql);
  if (unwritten !== undefined) return Promise.resolve(unwritten);
  if (member.settled) return undefined;
  const settles = pins === "always" && query.call !== undefined;
  const bringing = bring(member, query, {
    named: prepares?.shared !== true,
    own: settles,
    signal,
  });
  if (bringing === undefined) {
    member.settled = settles;
    return undefined;
  }
  return bringing.then((refused) => {
    member.settled = refused === undefined && settles;
    return refused;
  });
}

/** True where the connection stands there already, so that nothing has to be asked of its server. */
export function standsThere(
  member: Member,
  query: Identified,
  { pins, prepares }: Places,
): boolean {
  const { user } = member.prepared;
  if (user !== undefined && user !== query.session.identity.user) return false;
  if (member.encoding.name !== encodingOf(query.session)) return false;
  if (member.settled) return true;
  const own = pins === "always" && query.call !== undefined;
  return isBrought(member, query, { named: prepares?.shared !== true, own });
}

/** What another user's statements are is none of this one's to see in the server's list of them. */
export function withoutOthers(
  member: Member,
  { session }: Identified,
  signal: AbortSignal,
): Promise<GatewayError | undefined> | undefined {
  const { user } = member.prepared;
  if (user === undefined || user === session.identity.user) return undefined;
  return deallocated(member, signal);
}

async function deallocated(member: Member, signal: AbortSignal): Promise<GatewayError | undefined> {
  const done = await ask(member, "DEALLOCATE ALL", signal);
  if (!done.ok) return done.error;
  member.prepared.clear();
  return undefined;
}
