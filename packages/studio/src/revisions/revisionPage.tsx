/** One revision: what it changed, and what it would change to make it the newest again. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { cache } from "../api/cache.ts";
import { differenceQuery, revisionQuery, statusQuery } from "../api/queries.ts";
import type { Revision, Written } from "../api/shapes.ts";
import { write } from "../api/writes.ts";
import { useMay } from "../shell/me.ts";
import { countText } from "../tool/format.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/state.tsx";
import { Time } from "../ui/time.tsx";
import { toast } from "../ui/toast.tsx";
import { Differences } from "./differences.tsx";
import { positionBefore, positionIn } from "./position.ts";

export function RevisionPage() {
  const position = useParams({ strict: false, select: (params) => params.position ?? "" });
  const revision = useQuery(revisionQuery(position));
  const status = useQuery(statusQuery);
  const newest = status.data?.revision === undefined ? undefined : positionIn(status.data.revision);
  const isNewest = newest === position;
  return (
    <>
      <PageHead
        title={`Revision ${position.split(".")[1] ?? position}`}
        crumbs={<Link to="/revisions">Revisions</Link>}
        actions={
          newest === undefined || isNewest ? undefined : (
            <RollBack position={position} newest={newest} />
          )
        }
      />
      <Loaded query={revision}>{(data) => <Facts revision={data} isNewest={isNewest} />}</Loaded>
      <Card title="What it changed">
        <Before position={position} />
      </Card>
      {newest === undefined || isNewest ? null : (
        <Card title="What rolling back to it would change">
          <Between from={newest} to={position} />
        </Card>
      )}
    </>
  );
}

function Facts(props: { readonly revision: Revision; readonly isNewest: boolean }) {
  const { revision, isNewest } = props;
  return (
    <Card title={revision.summary} actions={isNewest ? <Badge tone="ok">newest</Badge> : null}>
      <dl className="facts">
        <dt>Who</dt>
        <dd>{revision.createdBy}</dd>
        <dt>When</dt>
        <dd>
          <Time at={revision.createdAt} />
        </dd>
        <dt>Place in the log</dt>
        <dd>
          {countText(revision.sequence)} of epoch <code>{revision.epoch}</code>
        </dd>
        <dt>Content</dt>
        <dd>
          <code>{revision.hash}</code>
        </dd>
      </dl>
    </Card>
  );
}

function Before({ position }: { readonly position: string }) {
  const before = positionBefore(position);
  if (before === undefined) {
    return <Empty title="The first of its log">It began with everything that it holds.</Empty>;
  }
  return <Between from={before} to={position} />;
}

function Between({ from, to }: { readonly from: string; readonly to: string }) {
  const difference = useQuery(differenceQuery(from, to));
  return <Loaded query={difference}>{({ items }) => <Differences items={items} />}</Loaded>;
}

function RollBack({
  position: asOf,
  newest,
}: {
  readonly position: string;
  readonly newest: string;
}) {
  const admin = useMay("admin");
  const navigate = useNavigate();
  const [asked, setAsked] = useState(false);
  const made = useRef<string>(undefined);
  if (!admin) return null;
  return (
    <>
      <Button onClick={() => setAsked(true)}>Roll back to it</Button>
      {asked ? (
        <Confirm
          title="Make this content the newest?"
          action="Roll back"
          act={async () => {
            const written = await write<Written>("POST /revisions/:position/rollback", {
              names: [asOf],
            });
            made.current = positionIn(written.revision);
            toast(
              written.changed ? "Rolled back. Workers are told now." : "It is the content already.",
            );
          }}
          onClose={(done) => {
            setAsked(false);
            if (!done) return;
            void cache.invalidateQueries();
            const position = made.current;
            if (position !== undefined)
              void navigate({ to: "/revisions/$position", params: { position } });
          }}
        >
          <div className="stack">
            <p>A new revision is made with this content; nothing of the log is lost.</p>
            <Between from={newest} to={asOf} />
          </div>
        </Confirm>
      ) : null}
    </>
  );
}
