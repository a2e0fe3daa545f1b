/** What runs and what waits at this moment, with its place in the queue; operators end it. */
import type { LiveQuery } from "@gateway/contract/studioApi.ts";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { liveQuery } from "../api/live.ts";
import { useMay } from "../shell/me.ts";
import { countText } from "../tool/format.ts";
import { State } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/state.tsx";
import { PagedTable, type Column } from "../ui/table.tsx";
import { Since } from "../ui/time.tsx";
import { CancelQuestion } from "./cancel.tsx";
import { QueryTabs } from "./tabs.tsx";

export function QueriesPage() {
  const live = useQuery(liveQuery);
  return (
    <>
      <PageHead title="Queries" />
      <QueryTabs />
      <Loaded query={live}>
        {({ queries: { items, total } }) => (
          <>
            {total > items.length ? (
              <div className="note warn">
                {countText(total)} queries live; these are the {countText(items.length)} oldest.
              </div>
            ) : null}
            <Queries items={items} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Queries({ items }: { readonly items: readonly LiveQuery[] }) {
  const operator = useMay("operator");
  const [asked, setAsked] = useState<LiveQuery>();
  const columns: readonly Column<LiveQuery>[] = [
    { title: "State", cell: StateCell, tight: true },
    { title: "For", cell: ({ since }) => <Since at={since} />, end: true },
    { title: "Query", cell: QueryCell },
    { title: "User", cell: ({ user }) => user ?? <span className="muted">–</span> },
    { title: "Group", cell: ({ group }) => group ?? <span className="muted">–</span> },
    { title: "Cluster", cell: ({ cluster }) => cluster ?? <span className="muted">–</span> },
    { title: "Where", cell: ({ worker }) => worker ?? "control plane" },
    ...(operator
      ? [
          {
            title: "Actions",
            end: true,
            cell: (query: LiveQuery) => (
              <Button small onClick={() => setAsked(query)}>
                Cancel<span className="hidden-text"> query {query.id}</span>
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <Card title={`${countText(items.length)} live`} flush>
      {items.length === 0 ? (
        <Empty title="Nothing runs" action={<Link to="/queries/history">See what ran</Link>}>
          Queries appear here while they wait and run.
        </Empty>
      ) : (
        <PagedTable
          caption="Queries that run or wait"
          rows={items}
          keyOf={({ key }) => key}
          columns={columns}
        />
      )}
      {asked === undefined ? null : (
        <CancelQuestion id={asked.id} onClose={() => setAsked(undefined)} />
      )}
    </Card>
  );
}

function StateCell({ state, position }: LiveQuery) {
  return (
    <span className="row">
      <State name={state} />
      {position === undefined ? null : <span className="muted">place {countText(position)}</span>}
    </span>
  );
}

function QueryCell({ id, sql }: LiveQuery) {
  return (
    <>
      <Link to="/queries/$id" params={{ id }}>
        <code>{id}</code>
      </Link>
      {sql === undefined ? null : <code className="clip muted">{sql}</code>}
    </>
  );
}
