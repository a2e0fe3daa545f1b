/**
 * The console beside a control plane of functions: its files in a bucket, and the admin API under the same name, so
 * that the browser's session stays of one site. A container serves the console itself.
 *
 * Whoever asks the functions for the admin API by this way is one of CloudFront's addresses to them: their limits for
 * guessed passwords count by those.
 */
import { stage } from "./stage.ts";

/** Vite's `base` (packages/contract/src/studioApi.ts), without its last slash. */
export const consolePath = "/studio";
const adminPath = "/admin";

/** Longer than any answer of the admin API takes to begin, in seconds; CloudFront allows no more without asking. */
const answerTimeout = "60 seconds";

/** As the control plane's own listener sends them (packages/gateway/src/ops/studioFiles.ts). */
export const consoleHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

/** Where browsers find the console of a control plane at `controlUrl`; undefined where it has none. */
export function consoleOf(controlUrl: $util.Output<string>): $util.Output<string> | undefined {
  if ($dev || stage.control === "container") return consoleAt(controlUrl);
  if (!stage.studio) return undefined;
  const router = new sst.aws.Router("Console", {
    edge: {
      viewerRequest: { injection: leadingThere },
      viewerResponse: { injection: withHeaders() },
    },
  });
  router.route(adminPath, controlUrl, { readTimeout: answerTimeout });
  new sst.aws.StaticSite("Studio", {
    build: { command: "node packages/gateway/bin/buildStudio.mjs", output: "packages/studio/dist" },
    router: { instance: router, path: consolePath },
    assets: {
      fileOptions: [
        { files: "**", cacheControl: "no-cache" },
        // A name with a hash of its content never means anything else.
        { files: "assets/**", cacheControl: "public, max-age=31536000, immutable" },
      ],
    },
  });
  return consoleAt(router.url);
}

function consoleAt(url: $util.Output<string>): $util.Output<string> {
  return url.apply((from) => new URL(`${consolePath}/`, from).href);
}

/** Runs at the edge, before a request is looked at. */
const leadingThere = `
  if (event.request.uri === "/" || event.request.uri === "${consolePath}") {
    return {
      statusCode: 302,
      statusDescription: "Found",
      headers: { location: { value: "${consolePath}/" }, "cache-control": { value: "no-store" } },
    };
  }`;

/** Runs at the edge, behind each answer; the admin API's have headers of their own. */
function withHeaders(): string {
  const headers = Object.entries(consoleHeaders).map(([name, value]) => [name, { value }]);
  return `
  if (event.request.uri.indexOf("${adminPath}") !== 0) {
    Object.assign(event.response.headers, ${JSON.stringify(Object.fromEntries(headers))});
  }`;
}
