/** Live or past: two addresses of one subject. */
import { Link } from "@tanstack/react-router";

export function QueryTabs() {
  return (
    <nav className="tabs" aria-label="Queries">
      <Link to="/queries" activeOptions={{ exact: true, includeSearch: false }}>
        Running and waiting
      </Link>
      <Link to="/queries/history" activeOptions={{ includeSearch: false }}>
        History
      </Link>
    </nav>
  );
}
