/** Who did what, newest first. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { auditQuery, pageSize, type AuditFilter } from "../api/queries.ts";
import type { AuditRow } from "../api/shapes.ts";
import { cleanSearch, numberOf, textOf, type Search } from "../shell/search.ts";
import { countText, fromLocalInput, localInput } from "../tool/format.ts";
import { isObject, jsonText } from "../tool/json.ts";
import { Button } from "../ui/button.tsx";
import { TextInput } from "../ui/field.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Failure, Loading } from "../ui/state.tsx";
import { Pages, Table, type Column } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

export function AuditPage() {
  const navigate = useNavigate();
  const search: Search = useSearch({ strict: false });
  const filter = filterOf(search);
  const set = (more: AuditFilter): void => {
    void navigate({ to: "/audit", search: cleanSearch({ ...filter, ...more }), replace: true });
  };
  return (
    <>
      <PageHead title="Audit" lead="Every write, login, test and cancel through the admin API." />
      <form className="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <TextInput label="Who" value={filter.by ?? ""} onChange={(by) => set({ by })} />
        <TextInput
          label="Action"
          value={filter.action ?? ""}
          placeholder="e.g. put"
          onChange={(action) => set({ action })}
        />
        <TextInput
          label="On what"
          value={filter.target ?? ""}
          placeholder="e.g. cluster/main"
          onChange={(target) => set({ target })}
        />
        <TextInput
          label="From"
          type="datetime-local"
          value={localInput(filter.from)}
          onChange={(text) => set({ from: fromLocalInput(text) })}
        />
        <TextInput
          label="To"
          type="datetime-local"
          value={localInput(filter.to)}
          onChange={(text) => set({ to: fromLocalInput(text) })}
        />
      </form>
      <Rows
        key={JSON.stringify(filter)}
        filter={filter}
        onClear={() => void navigate({ to: "/audit", search: {} })}
      />
    </>
  );
}

function filterOf(search: Search): AuditFilter {
  return {
    by: textOf(search, "by"),
    action: textOf(search, "action"),
    target: textOf(search, "target"),
    from: numberOf(search, "from"),
    to: numberOf(search, "to"),
  };
}

function Rows(props: { readonly filter: AuditFilter; readonly onClear: () => void }) {
  const audit = useInfiniteQuery(auditQuery(props.filter));
  const [index, setIndex] = useState(0);
  const pages = audit.data?.pages ?? [];
  const page = pages[index];
  if (page === undefined) {
    return audit.error === null ? (
      <Loading />
    ) : (
      <Failure error={audit.error} retry={() => void audit.refetch()} />
    );
  }
  const more = page.nextCursor !== undefined;
  const forward = async (): Promise<void> => {
    if (pages[index + 1] === undefined) await audit.fetchNextPage();
    setIndex(index + 1);
  };
  return (
    <Card flush>
      {page.items.length === 0 ? (
        <Empty
          title="Nothing matches"
          action={<Button onClick={props.onClear}>Clear the filters</Button>}
        />
      ) : (
        <Table caption="Audit log" rows={page.items} keyOf={({ id }) => id} columns={columns} />
      )}
      {index === 0 && !more ? null : (
        <Pages
          text={`${countText(index * pageSize + 1)} to ${countText(index * pageSize + page.items.length)}`}
          before={index > 0 ? () => setIndex(index - 1) : undefined}
          after={more ? () => void forward() : undefined}
          busy={audit.isFetchingNextPage}
        />
      )}
    </Card>
  );
}

const columns: readonly Column<AuditRow>[] = [
  { title: "When", cell: ({ at }) => <Time at={at} />, tight: true },
  { title: "Who", cell: ({ by }) => by },
  { title: "Action", cell: ({ action }) => action },
  { title: "On what", cell: ({ target }) => <code className="wrap">{target}</code> },
  { title: "From", cell: ({ address }) => address ?? "–" },
  {
    title: "Detail",
    cell: ({ detail }) =>
      isObject(detail) && Object.keys(detail).length === 0 ? null : (
        <code className="wrap small">{jsonText(detail)}</code>
      ),
  },
];
