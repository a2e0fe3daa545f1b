/** Every page of Studio with its title, for the cases that look at all of them. */

export const pages = [
  { path: "/", title: "Overview" },
  { path: "/queries", title: "Queries" },
  { path: "/queries/history", title: "Queries" },
  { path: "/workers", title: "Workers" },
  { path: "/console", title: "Console" },
  { path: "/clusters", title: "Clusters" },
  { path: "/clusters/local", title: "local" },
  { path: "/groups", title: "Groups" },
  { path: "/groups/default", title: "default" },
  { path: "/routing", title: "Routing" },
  { path: "/access", title: "Access" },
  { path: "/scripts", title: "Scripts" },
  { path: "/scripts/spread", title: "spread" },
  { path: "/settings", title: "Settings" },
  { path: "/settings/guardrails", title: "Guard rails" },
  { path: "/revisions", title: "Revisions" },
  { path: "/users", title: "Users" },
  { path: "/audit", title: "Audit" },
];

/** `/queries/history` → `queries-history` */
export function nameOf(path) {
  return path === "/" ? "overview" : path.slice(1).replaceAll("/", "-");
}
