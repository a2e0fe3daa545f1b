/** What ran, newest first, a page at a time: a history of a million rows is as quick as one of ten. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { pathOf } from "../api/client.ts";
import { historyQuery, objectsQuery, pageSize, type HistoryFilter } from "../api/queries.ts";
import type { HistoryRecord } from "../api/shapes.ts";
import { cleanSearch, type Search } from "../shell/search.ts";
import { countText, durationText } from "../tool/format.ts";
import { State } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Failure, Loading } from "../ui/state.tsx";
import { Pages, Table, type Column } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { Filters, filterOf } from "./filters.tsx";
import { QueryTabs } from "./tabs.tsx";

export function HistoryPage() {
  const navigate = useNavigate();
  const search: Search = useSearch({ strict: false });
  const filter = filterOf(search);
  const groups = useQuery(objectsQuery("groups"));
  const clusters = useQuery(objectsQuery("clusters"));
  const set = (next: HistoryFilter): void =>
    void navigate({ to: "/queries/history", search: cleanSearch({ ...next }), replace: true });
  return (
    <>
      <PageHead title="Queries" actions={<ExportLink filter={filter} />} />
      <QueryTabs />
      <Filters
        filter={filter}
        groups={(groups.data ?? []).map(({ name }) => name)}
        clusters={(clusters.data ?? []).map(({ name }) => name)}
        onChange={set}
      />
      <Records key={JSON.stringify(filter)} filter={filter} onClear={() => set({})} />
    </>
  );
}

function ExportLink({ filter }: { readonly filter: HistoryFilter }) {
  return (
    <a className="button" href={`/admin${pathOf("/query-export", { ...filter })}`} download>
      <Icon name="download" />
      Export CSV
    </a>
  );
}

function Records(props: { readonly filter: HistoryFilter; readonly onClear: () => void }) {
  const { filter, onClear } = props;
  const history = useInfiniteQuery(historyQuery(filter));
  const [index, setIndex] = useState(0);
  if (history.data === undefined) {
    return history.error === null ? (
      <Loading />
    ) : (
      <Failure error={history.error} retry={() => void history.refetch()} />
    );
  }
  const { pages } = history.data;
  const rows = pages[index]?.items ?? [];
  const forward = async (): Promise<void> => {
    if (pages[index + 1] === undefined) await history.fetchNextPage();
    setIndex(index + 1);
  };
  const more = pages[index]?.nextCursor !== undefined;
  return (
    <Card
      title="History"
      actions={
        <Button
          small
          busy={history.isRefetching}
          onClick={() => {
            setIndex(0);
            void history.refetch();
          }}
        >
          Refresh
        </Button>
      }
      flush
    >
      {rows.length === 0 ? (
        <Nothing filtered={Object.keys(filter).length > 0} onClear={onClear} />
      ) : (
        <Table
          caption="Past queries"
          rows={rows}
          keyOf={({ proxyQueryId }) => proxyQueryId}
          columns={columns}
        />
      )}
      {index === 0 && !more ? null : (
        <Pages
          text={`${countText(index * pageSize + 1)} to ${countText(index * pageSize + rows.length)}`}
          before={index > 0 ? () => setIndex(index - 1) : undefined}
          after={more ? () => void forward() : undefined}
          busy={history.isFetchingNextPage}
        />
      )}
    </Card>
  );
}

function Nothing(props: { readonly filtered: boolean; readonly onClear: () => void }) {
  if (!props.filtered) {
    return <Empty title="Nothing ran yet">A query appears here when it has ended.</Empty>;
  }
  return (
    <Empty
      title="No query matches"
      action={<Button onClick={props.onClear}>Clear the filters</Button>}
    >
      No record of the history has all of these.
    </Empty>
  );
}

const columns: readonly Column<HistoryRecord>[] = [
  { title: "Came", cell: ({ createdAt }) => <Time at={createdAt} />, tight: true },
  { title: "Status", cell: StatusCell, tight: true },
  { title: "Query", cell: QueryCell },
  { title: "User", cell: ({ user }) => <span className="clip narrow">{user}</span> },
  { title: "Over", cell: ({ frontend }) => frontend },
  { title: "Went to", cell: WentTo },
  { title: "Waited", cell: ({ queueMs }) => durationText(queueMs), end: true },
  { title: "Ran", cell: ({ executionMs }) => durationText(executionMs), end: true },
  { title: "Rows", cell: ({ rowsReturned }) => countText(rowsReturned), end: true },
];

function StatusCell({ status, errorCode }: HistoryRecord) {
  return (
    <>
      <State name={status} />
      {errorCode === undefined ? null : (
        <div className="small">
          <code>{errorCode}</code>
        </div>
      )}
    </>
  );
}

function QueryCell({ proxyQueryId, sql }: HistoryRecord) {
  return (
    <>
      <Link to="/queries/$id" params={{ id: proxyQueryId }}>
        <code>{proxyQueryId}</code>
      </Link>
      {sql === undefined ? null : <code className="clip muted">{sql}</code>}
    </>
  );
}

function WentTo({ clusterGroup, cluster, worker }: HistoryRecord) {
  if (clusterGroup === undefined) return <span className="muted">nowhere</span>;
  const places = [clusterGroup, cluster, worker].filter((place) => place !== undefined);
  return <span className="clip narrow">{places.join(" / ")}</span>;
}
