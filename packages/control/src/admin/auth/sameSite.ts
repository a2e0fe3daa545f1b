/**
 * Whether a request may change something although a browser sent it.
 *
 * A browser adds the cookie, and a remembered Basic login, by itself. A cookie therefore needs proof
 * that the page is ours; Basic is refused only when the browser says that it is not, because tools
 * send neither header.
 */
import type { Context } from "hono";

/** `ambient`: the credential is a cookie. */
export function fromOurPage(c: Context, ambient: boolean): boolean {
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin" || site === "none";
  const origin = c.req.header("origin");
  if (origin === undefined) return !ambient;
  return hostOf(origin) === (c.req.header("host") ?? hostOf(c.req.url));
}

function hostOf(text: string): string | undefined {
  return URL.canParse(text) ? new URL(text).host : undefined;
}
