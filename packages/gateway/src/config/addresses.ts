/** How a worker's config writes where its control plane and its peers are reached. */

/** Why a control plane's URL is not used; undefined when it is. */
export function urlFault(url: string, allowInsecureHttp: boolean): string | undefined {
  if (!URL.canParse(url)) return "is no URL";
  const { protocol, username, password, search, hash } = new URL(url);
  // Logs and status show the URL, so a credential in it would be no secret any more.
  if (username !== "" || password !== "") return "must not hold credentials";
  if (search !== "" || hash !== "") return "must not have a query or a fragment";
  if (protocol === "https:") return undefined;
  if (protocol !== "http:") return "must be an https URL";
  return allowInsecureHttp
    ? undefined
    : "must be https: the fleet secret and cluster credentials would cross in clear text (allowInsecureHttp is for local demos only)";
}

/** Splits `host:port`, where the host may be an IPv6 address in brackets. Undefined for anything else. */
export function peerAddress(
  text: string,
): { readonly name: string; readonly port: number } | undefined {
  const [, bracketed, plain, port = ""] =
    /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const name = bracketed ?? plain;
  if (name === undefined || Number(port) < 1 || Number(port) > 65_535) return undefined;
  return { name, port: Number(port) };
}
