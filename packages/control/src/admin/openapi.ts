/** `GET /openapi.json`: OpenAPI 3.1 of the admin API, made once from the routes themselves. The worker API is no part of it. */
import type { Hono } from "hono";
import { generateSpecs } from "hono-openapi";

const documentation = {
  info: {
    title: "Query gateway: admin API",
    version: "1",
    description:
      "Configuration, workers, queries and users of a control plane. Errors are problem details (RFC 9457). Every write of an object needs the ETag that was read. Roles: viewer reads, operator also runs dry runs, tests and cancels, admin also writes and sees users, sessions and the audit log. While the database is down, configuration is read from memory (`gateway-config-age`, `warning`), whoever was confirmed within the last minute may read on, and everything else is answered 503.",
  },
  components: {
    securitySchemes: {
      basic: { type: "http", scheme: "basic", description: "A user of the admin API, for tools." },
      session: {
        type: "apiKey",
        in: "cookie",
        name: "__Host-gateway-session",
        description: "Set by `POST /admin/login`; `gateway-session` where there is no TLS.",
      },
    },
  },
} as const;

/** The text of the document, made with the first call. */
export function openApiText(app: Hono): () => Promise<string> {
  let text: Promise<string> | undefined;
  return () => (text ??= documentOf(app));
}

async function documentOf(app: Hono): Promise<string> {
  const document = await generateSpecs(app, {
    documentation,
    // The default takes a dot in a path for a file, and its 400 is not ours.
    excludeStaticFile: false,
    defaultValidationErrorResponse: false,
  });
  return JSON.stringify(document);
}
