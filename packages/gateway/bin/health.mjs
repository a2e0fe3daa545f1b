/**
 * Asks the gateway of this container whether it lives; ends with 0 or 1. The image's health check, which has
 * no curl and no shell. `GATEWAY_HEALTH_URL` is where to ask, unless the admin listener is where it is by
 * default.
 */
import { get } from "node:http";
import { get as getSecurely } from "node:https";

const url = new URL(process.env.GATEWAY_HEALTH_URL ?? "http://127.0.0.1:9000/health");
const ask = url.protocol === "https:" ? getSecurely : get;
// Its own certificate names the gateway and not this address; nothing secret is sent.
const sent = ask(url, { rejectUnauthorized: false, timeout: 4_000 }, ({ statusCode }) => {
  process.exit(statusCode === 200 ? 0 : 1);
});
sent.on("timeout", () => process.exit(1));
sent.on("error", () => process.exit(1));
