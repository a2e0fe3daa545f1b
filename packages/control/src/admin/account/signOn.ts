/**
 * `/admin/sign-on`: the ways into the console that are no password. A one-time link for whoever started the process
 * on this machine, and an identity provider (RFC 6749 §4.1 with PKCE, OpenID Connect Core §3.1).
 *
 * A browser navigates to these addresses. They answer a small page of our own that leads on to the console, because
 * a browser that came from another site would not send the new cookie along a redirect.
 */
import {
  signOnLinkSchema,
  signOnSchema,
  studioPath,
  type SignOnRefusal,
} from "@gateway/contract/studioApi.ts";
import type { Context } from "hono";
import { z } from "zod";
import { noted } from "../audit.ts";
import { adminOf } from "../auth/admin.ts";
import { keepSignOn, keptSignOn } from "../auth/cookie.ts";
import { refuse, unavailable } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";
import { plainText } from "../shapes.ts";
import { beginSession } from "./begin.ts";
import { localAdmin, provisioned } from "./provision.ts";

const tag = "login";
/** A page of the console: a path of ours without anything that could end an attribute or lead elsewhere. */
const pagePattern = /^\/studio\/(?:[\w.~:+,@=&%/?-]{0,1000})$/;
const page = {
  200: { description: "A page that leads to the console.", contentType: "text/html" },
};

export function signOnRoutes(api: AdminApi): void {
  waysRoute(api);
  linkRoute(api);
  makeLinkRoute(api);
  oidcRoute(api);
  callbackRoute(api);
}

function waysRoute(api: AdminApi): void {
  const { deps } = api;
  route(
    api,
    ["GET", "/sign-on"],
    {
      tag,
      summary: "How one signs on here",
      role: "anyone",
      responses: { 200: { description: "The ways.", schema: signOnSchema } },
      refusals: [503],
    },
    async () => {
      const count = await deps.store.users.count();
      if (!count.ok) return unavailable();
      const oidc = deps.signOn && { title: deps.signOn.title };
      return Response.json({ setupNeeded: count.value === 0, password: true, oidc });
    },
  );
}

function linkRoute(api: AdminApi): void {
  const { deps } = api;
  const operation = {
    tag,
    summary: "Sign on by a one-time link",
    description: "For a browser on the gateway's own machine. The token is good once, for minutes.",
    role: "anyone",
    query: z.strictObject({ token: plainText.max(128) }),
    responses: page,
    refusals: [403, 503],
  } as const;
  route(api, ["GET", "/sign-on/link"], operation, async ({ c, query: { token } }) => {
    const fromPage = c.req.header("sec-fetch-site") ?? "none";
    if (deps.links === undefined || !isLocal(deps.caller(c.req.raw).address)) {
      const detail = "One-time links are for a listener and a browser on the same machine.";
      return refuse(403, { code: "notLocal", detail });
    }
    if (fromPage !== "none" && fromPage !== "same-origin") {
      const detail = "A browser sent this from a page of another site.";
      return refuse(403, { code: "foreignPage", detail });
    }
    const name = deps.links.take(token);
    if (name === undefined) return leadTo(c, refusedPage("linkUsed"));
    const user = await localAdmin(deps, name);
    if (!user.ok) return unavailable();
    if (user.value === undefined) return leadTo(c, refusedPage("refused"));
    return (await beginSession(api, c, user.value, "link")) ?? leadTo(c, studioPath);
  });
}

function makeLinkRoute(api: AdminApi): void {
  const { deps } = api;
  const operation = {
    tag,
    summary: "Make a one-time link for oneself",
    description: "Only where the admin listener is on loopback.",
    role: "admin",
    responses: { 201: { description: "The link.", schema: signOnLinkSchema } },
    refusals: [415, 501],
  } as const;
  route(api, ["POST", "/sign-on/links"], operation, async ({ c }) => {
    if (deps.links === undefined) {
      const detail = "The admin listener is not on loopback.";
      return refuse(501, { code: "notHere", detail });
    }
    const { name: by, address } = adminOf(c);
    const deed = { by, address, action: "link", target: `user/${by}` };
    return (await noted(deps, deed)) ?? Response.json(deps.links.make(by), { status: 201 });
  });
}

function oidcRoute(api: AdminApi): void {
  const { deps } = api;
  const operation = {
    tag,
    summary: "Sign on at the identity provider",
    role: "anyone",
    query: z.strictObject({ returnTo: plainText.optional() }),
    responses: {
      ...page,
      303: { description: "To the provider, which leads back to the callback." },
    },
    refusals: [404],
  } as const;
  route(
    api,
    ["GET", "/sign-on/oidc"],
    operation,
    async ({ c, query: { returnTo = studioPath } }) => {
      if (deps.signOn === undefined) return notConfigured();
      const begun = await deps.signOn.begin();
      if (!begun.ok) return leadTo(c, refusedPage("unavailable"));
      const target = pagePattern.test(returnTo) ? returnTo : studioPath;
      keepSignOn(c, { kept: begun.value.kept, returnTo: target }, deps.caller(c.req.raw).secure);
      return c.redirect(begun.value.url, 303);
    },
  );
}

function callbackRoute(api: AdminApi): void {
  const { deps } = api;
  const operation = {
    tag,
    summary: "Where the identity provider leads back to",
    role: "anyone",
    responses: page,
    refusals: [404, 503],
  } as const;
  route(api, ["GET", "/sign-on/oidc/callback"], operation, async ({ c }) => {
    const { signOn } = deps;
    if (signOn === undefined) return notConfigured();
    const there = keptSignOn(c, deps.caller(c.req.raw).secure);
    if (there === undefined) return leadTo(c, refusedPage("expired"));
    const { searchParams } = new URL(c.req.url);
    const found = await signOn.finish(there.kept, searchParams);
    if (!found.ok) return refusedOidc(api, c, found.error);
    const user = await provisioned(deps, found.value);
    if (!user.ok) return user.error === "store" ? unavailable() : refusedOidc(api, c, user.error);
    const target = pagePattern.test(there.returnTo) ? there.returnTo : studioPath;
    return (await beginSession(api, c, user.value, "oidc")) ?? leadTo(c, target);
  });
}

function refusedOidc({ deps }: AdminApi, c: Context, why: SignOnRefusal): Response {
  const { address } = deps.caller(c.req.raw);
  deps.log.write("warn", "admin.loginRefused", { code: why, address });
  return leadTo(c, refusedPage(why));
}

function notConfigured(): Response {
  const detail = "No identity provider is configured for administrators.";
  return refuse(404, { code: "missing", detail });
}

function refusedPage(why: SignOnRefusal): string {
  return `${studioPath}?signOn=${why}`;
}

/** `path` is one of ours and was looked at: it stands in the page as it is. */
function leadTo(c: Context, path: string): Response {
  c.header("refresh", `0; url=${path}`);
  const shown = path.replaceAll("&", "&amp;");
  return c.html(`<!doctype html><title>Console</title><a href="${shown}">On to the console</a>`);
}

function isLocal(address: string): boolean {
  return address === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
}
