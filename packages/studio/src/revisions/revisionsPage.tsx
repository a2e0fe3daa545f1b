/** The log of the configuration, newest first. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { revisionsQuery } from "../api/queries.ts";
import type { Revision } from "../api/shapes.ts";
import { countText } from "../tool/format.ts";
import { Badge } from "../ui/badge.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Failure, Loading } from "../ui/state.tsx";
import { Pages, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { positionOf } from "./position.ts";

export function RevisionsPage() {
  const revisions = useInfiniteQuery(revisionsQuery);
  const [index, setIndex] = useState(0);
  const pages = revisions.data?.pages ?? [];
  const page = pages[index];
  const more = page?.nextCursor !== undefined;
  const forward = async (): Promise<void> => {
    if (pages[index + 1] === undefined) await revisions.fetchNextPage();
    setIndex(index + 1);
  };
  return (
    <>
      <PageHead
        title="Revisions"
        lead="Each write of the configuration makes one. Any of them can be made the newest again."
      />
      {page === undefined ? (
        revisions.error === null ? (
          <Loading />
        ) : (
          <Failure error={revisions.error} retry={() => void revisions.refetch()} />
        )
      ) : (
        <Card flush>
          <Log items={page.items} newest={index === 0 ? page.items[0] : undefined} />
          {index === 0 && !more ? null : (
            <Pages
              text={`Page ${countText(index + 1)}`}
              before={index > 0 ? () => setIndex(index - 1) : undefined}
              after={more ? () => void forward() : undefined}
              busy={revisions.isFetchingNextPage}
            />
          )}
        </Card>
      )}
    </>
  );
}

function Log(props: {
  readonly items: readonly Revision[];
  readonly newest: Revision | undefined;
}) {
  if (props.items.length === 0) {
    return <Empty title="No revision yet">The first write of the configuration makes one.</Empty>;
  }
  return (
    <Table
      caption="Revisions"
      rows={props.items}
      keyOf={({ revision }) => revision}
      columns={[
        {
          title: "Revision",
          cell: (one) => (
            <span className="row">
              <Link to="/revisions/$position" params={{ position: positionOf(one) }}>
                {countText(one.sequence)}
              </Link>
              {one === props.newest ? <Badge tone="ok">newest</Badge> : null}
            </span>
          ),
        },
        { title: "What", cell: ({ summary }) => <span className="wrap">{summary}</span> },
        { title: "Who", cell: ({ createdBy }) => createdBy },
        { title: "When", cell: ({ createdAt }) => <Time at={createdAt} />, tight: true },
        {
          title: "Content",
          cell: ({ hash }) => <code>{hash.replace("sha256:", "").slice(0, 12)}</code>,
        },
      ]}
    />
  );
}
