/** The way between pages. What a role can not read is not offered. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { liveQuery } from "../api/live.ts";
import type { Role } from "../api/shapes.ts";
import { shortCount } from "../tool/format.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { useMay } from "./me.ts";

interface Entry {
  readonly to: string;
  readonly title: string;
  readonly icon: IconName;
  readonly role?: Role;
}

const groups: readonly { readonly title: string; readonly entries: readonly Entry[] }[] = [
  {
    title: "Observe",
    entries: [
      { to: "/", title: "Overview", icon: "overview" },
      { to: "/queries", title: "Queries", icon: "queries" },
      { to: "/workers", title: "Workers", icon: "workers" },
    ],
  },
  {
    title: "Query",
    entries: [{ to: "/console", title: "Console", icon: "console", role: "operator" }],
  },
  {
    title: "Configure",
    entries: [
      { to: "/clusters", title: "Clusters", icon: "clusters" },
      { to: "/groups", title: "Groups", icon: "groups" },
      { to: "/routing", title: "Routing", icon: "routing" },
      { to: "/access", title: "Access", icon: "access" },
      { to: "/scripts", title: "Scripts", icon: "scripts" },
      { to: "/settings", title: "Settings", icon: "settings" },
      { to: "/revisions", title: "Revisions", icon: "revisions" },
    ],
  },
  {
    title: "Administer",
    entries: [
      { to: "/users", title: "Users", icon: "users", role: "admin" },
      { to: "/audit", title: "Audit", icon: "audit", role: "admin" },
    ],
  },
];

export function Nav({ onGo }: { readonly onGo: () => void }) {
  return (
    <nav className="nav" aria-label="Pages">
      {groups.map(({ title, entries }) => (
        <Group key={title} title={title} entries={entries} onGo={onGo} />
      ))}
    </nav>
  );
}

function Group(props: {
  readonly title: string;
  readonly entries: readonly Entry[];
  readonly onGo: () => void;
}) {
  const operator = useMay("operator");
  const admin = useMay("admin");
  const may = (role: Role = "viewer"): boolean =>
    role === "viewer" || (role === "operator" ? operator : admin);
  const shown = props.entries.filter(({ role }) => may(role));
  if (shown.length === 0) return null;
  return (
    <div>
      <h2>{props.title}</h2>
      <ul>
        {shown.map(({ to, title, icon }) => (
          <li key={to}>
            <Link to={to} activeOptions={{ exact: to === "/" }} onClick={props.onGo}>
              <Icon name={icon} />
              {title}
              {to === "/queries" ? <Running /> : null}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** How many run now. */
function Running() {
  const { data } = useQuery({ ...liveQuery, enabled: false });
  const running = data?.counters.running ?? 0;
  if (running === 0) return null;
  return (
    <span className="badge info plain tally">
      {shortCount(running)}
      <span className="hidden-text"> running</span>
    </span>
  );
}
