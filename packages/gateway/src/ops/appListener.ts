/** Hono's Node server around the admin listener's app. Apart, because it takes Node's own `Request` into memory when it is loaded. */
import type { RequestListener } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { App } from "./app.ts";
import type { Callers } from "./callers.ts";

/** `callers` learns who sends each request, for the app to ask. */
export function appListener(app: App, callers: Callers): RequestListener {
  const answer = getRequestListener((request, { incoming }) => {
    callers.arrived(request, incoming);
    return app.fetch(request);
  });
  return (request, response) => void answer(request, response);
}
