/** The writes that Studio can send, by its own list, and those that a browser was seen to send. */
import { readFileSync } from "node:fs";

const list = new URL("../../packages/studio/src/api/writes.ts", import.meta.url);

/** Routes as `PUT /clusters/:name`. */
export function writeRoutes() {
  const [, routes = ""] =
    /writeRoutes = \[(.*?)\] as const/s.exec(readFileSync(list, "utf8")) ?? [];
  return [...routes.matchAll(/"([A-Z]+ \/[^"]+)"/g)].map(([, route]) => route);
}

/** Sees every response of every page. */
export function watchedWrites() {
  const answered = new Set();
  const all = new Set();
  return {
    saw: (response) => {
      const method = response.request().method();
      const { pathname } = new URL(response.url());
      if (method === "GET" || !pathname.startsWith("/admin/")) return;
      const write = `${method} ${pathname.slice("/admin".length)}`;
      all.add(write);
      if (response.ok()) answered.add(write);
    },
    /** Those of `routes` that no request was answered well of. */
    missing: (routes) => routes.filter((route) => ![...answered].some((one) => isOf(one, route))),
    /** What was sent and is none of them. */
    unknown: (routes) => [...all].filter((one) => !routes.some((route) => isOf(one, route))),
  };
}

function isOf(write, route) {
  const steps = route.split("/");
  const found = write.split("/");
  return (
    found.length === steps.length &&
    steps.every((step, at) => step.startsWith(":") || step === found[at])
  );
}
