/** What runs, what waits, how fast and how well, and whether the fleet is up to date: on one screen. */
import type { Live, OverviewRange } from "@gateway/contract/studioApi.ts";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { overviewQuery } from "../api/consoleQueries.ts";
import { liveQuery } from "../api/live.ts";
import { statusQuery } from "../api/queries.ts";
import { textOf, type Search } from "../shell/search.ts";
import { countText } from "../tool/format.ts";
import { Health, State, UpToDate } from "../ui/badge.tsx";
import { Meter } from "../ui/meter.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/state.tsx";
import { Table } from "../ui/table.tsx";
import { newName } from "../write/nameField.tsx";
import { FirstSteps } from "./firstSteps.tsx";
import { Series } from "./series.tsx";
import { Tiles } from "./tiles.tsx";

export function OverviewPage() {
  const live = useQuery(liveQuery);
  const search: Search = useSearch({ strict: false });
  const range: OverviewRange = textOf(search, "range") === "day" ? "day" : "hour";
  const overview = useQuery(overviewQuery(range));
  return (
    <>
      <PageHead title="Overview" actions={<Range range={range} />} />
      {live.data === undefined ? null : <FirstSteps live={live.data} />}
      <Loaded query={live}>{(data) => <Tiles live={data} overview={overview.data} />}</Loaded>
      <Loaded query={overview}>{(data) => <Series overview={data} />}</Loaded>
      <div className="columns">
        <Loaded query={live}>{(data) => <Clusters live={data} />}</Loaded>
        <div className="stack">
          <Loaded query={live}>{(data) => <Groups live={data} />}</Loaded>
          {overview.data === undefined ? null : <Errors errors={overview.data.errors} />}
        </div>
      </div>
      <Loaded query={live}>{(data) => <Fleet live={data} />}</Loaded>
    </>
  );
}

function Range({ range }: { readonly range: OverviewRange }) {
  const navigate = useNavigate();
  return (
    <select
      className="select narrow"
      aria-label="Time"
      value={range}
      onChange={(event) =>
        void navigate({ to: "/", search: { range: event.target.value }, replace: true })
      }
    >
      <option value="hour">Last hour</option>
      <option value="day">Last day</option>
    </select>
  );
}

function Clusters({ live }: { readonly live: Live }) {
  const { items } = live.clusters;
  return (
    <Card title="Clusters" actions={<Link to="/clusters">All clusters</Link>} flush>
      {items.length === 0 ? (
        <Empty
          title="No cluster yet"
          action={
            <Link className="button primary" to="/clusters/$name" params={{ name: newName }}>
              Add a cluster
            </Link>
          }
        >
          A cluster is an engine that queries can go to.
        </Empty>
      ) : (
        <Table
          caption="Clusters"
          rows={items}
          keyOf={({ key }) => key}
          columns={[
            {
              title: "Cluster",
              cell: ({ key }) => (
                <Link to="/clusters/$name" params={{ name: key }}>
                  {key}
                </Link>
              ),
            },
            { title: "Engine", cell: ({ engine }) => engine },
            { title: "Health", cell: ({ health }) => <Health health={health} /> },
            {
              title: "Running",
              end: true,
              cell: ({ running, cap }) => <Meter value={running} max={cap} />,
            },
          ]}
        />
      )}
    </Card>
  );
}

function Groups({ live }: { readonly live: Live }) {
  return (
    <Card title="Groups" actions={<Link to="/groups">All groups</Link>} flush>
      {live.groups.items.length === 0 ? (
        <Empty title="No group yet">A group is where routers send queries to.</Empty>
      ) : (
        <Table
          caption="Groups"
          rows={live.groups.items}
          keyOf={({ key }) => key}
          columns={[
            {
              title: "Group",
              cell: ({ key }) => (
                <Link to="/groups/$name" params={{ name: key }}>
                  {key}
                </Link>
              ),
            },
            { title: "Running", end: true, cell: ({ running }) => countText(running) },
            { title: "Waiting", end: true, cell: ({ queued }) => countText(queued) },
          ]}
        />
      )}
    </Card>
  );
}

function Errors(props: {
  readonly errors: readonly { readonly code: string; readonly count: number }[];
}) {
  return (
    <Card title="Errors" flush>
      {props.errors.length === 0 ? (
        <Empty title="No errors">Nothing failed in this time.</Empty>
      ) : (
        <Table
          caption="Errors by code"
          rows={props.errors}
          keyOf={({ code }) => code}
          columns={[
            {
              title: "Code",
              cell: ({ code }) => (
                <Link to="/queries/history" search={{ errorCode: code }}>
                  <code>{code}</code>
                </Link>
              ),
            },
            { title: "Queries", end: true, cell: ({ count }) => countText(count) },
          ]}
        />
      )}
    </Card>
  );
}

function Fleet({ live }: { readonly live: Live }) {
  const { data: status } = useQuery(statusQuery);
  const { items, total } = live.workers;
  if (total === 0 && status?.workerApi !== true) return null;
  return (
    <Card title="Workers" actions={<Link to="/workers">All workers</Link>} flush>
      {total === 0 ? (
        <Empty title="No worker yet">Workers appear here when they register.</Empty>
      ) : (
        <Table
          caption="Workers"
          rows={items.slice(0, 12)}
          keyOf={({ key }) => key}
          columns={[
            {
              title: "Worker",
              cell: ({ key, name }) => (
                <Link to="/workers/$instanceId" params={{ instanceId: key }}>
                  {name}
                </Link>
              ),
            },
            { title: "State", cell: (worker) => <State name={worker.status} /> },
            {
              title: "Configuration",
              cell: ({ behind, stale }) => <UpToDate behind={behind} stale={stale} />,
            },
            { title: "Version", cell: ({ version }) => version },
            { title: "Running", end: true, cell: ({ running }) => countText(running) },
            { title: "Waiting", end: true, cell: ({ queued }) => countText(queued) },
          ]}
        />
      )}
    </Card>
  );
}
