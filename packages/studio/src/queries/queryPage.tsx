/** One query: how it went, why it went there, what became of its SQL. While it lives, what is known of it. */
import type { LiveQuery } from "@gateway/contract/studioApi.ts";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { liveQuery } from "../api/live.ts";
import { recordQuery } from "../api/queries.ts";
import type { QueryDetail } from "../api/shapes.ts";
import { useMay } from "../shell/me.ts";
import { State } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Copy } from "../ui/copy.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/state.tsx";
import { Since } from "../ui/time.tsx";
import { CancelQuestion } from "./cancel.tsx";
import { Facts } from "./facts.tsx";
import { SqlCards } from "./sqlCards.tsx";
import { Timeline } from "./timeline.tsx";
import { Trace } from "./trace.tsx";

export function QueryPage() {
  const id = useParams({ strict: false, select: (params) => params.id ?? "" });
  const record = useQuery(recordQuery(id));
  const live = useQuery({ ...liveQuery, enabled: false });
  const lives = live.data?.queries.items.find((query) => query.id === id);
  return (
    <>
      <PageHead
        title={`Query ${id}`}
        crumbs={<Link to="/queries/history">Queries</Link>}
        actions={<Copy text={id} what="id" />}
      />
      <Loaded query={record}>
        {(data) => {
          if (data !== null) return <Ended record={data} />;
          return lives === undefined ? <Unknown /> : <Living query={lives} />;
        }}
      </Loaded>
    </>
  );
}

function Unknown() {
  return (
    <Card>
      <Empty title="No record of this query">
        It may still run on a worker that has not reported it yet, its record may be on its way, or
        the history has let it go.
      </Empty>
    </Card>
  );
}

function Living({ query }: { readonly query: LiveQuery }) {
  const operator = useMay("operator");
  const [asked, setAsked] = useState(false);
  const { id, state, since, position, user, group, cluster, worker, sql } = query;
  return (
    <>
      <Card
        title="Now"
        actions={
          operator ? (
            <Button small onClick={() => setAsked(true)}>
              Cancel
            </Button>
          ) : null
        }
      >
        <dl className="facts">
          <dt>State</dt>
          <dd>
            <State name={state} /> for <Since at={since} />
            {position === undefined ? null : `, place ${position} in the queue`}
          </dd>
          <dt>User</dt>
          <dd>{user ?? "not reported"}</dd>
          <dt>Group and cluster</dt>
          <dd>
            {group ?? "–"} / {cluster ?? "–"}
          </dd>
          <dt>Where</dt>
          <dd>{worker ?? "this control plane"}</dd>
        </dl>
      </Card>
      {sql === undefined ? null : (
        <Card title="SQL">
          <pre className="sql">{sql}</pre>
        </Card>
      )}
      {asked ? <CancelQuestion id={id} onClose={() => setAsked(false)} /> : null}
    </>
  );
}

function Ended({ record }: { readonly record: QueryDetail }) {
  const { errorCode, errorMessage } = record;
  return (
    <>
      {errorCode === undefined ? null : (
        <div className="note bad">
          <strong>
            <code>{errorCode}</code>
          </strong>
          {errorMessage === undefined ? null : <div className="wrap">{errorMessage}</div>}
        </div>
      )}
      <Timeline record={record} />
      <div className="columns">
        <Facts record={record} />
        <Trace record={record} />
      </div>
      <SqlCards record={record} />
    </>
  );
}
