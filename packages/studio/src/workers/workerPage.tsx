/** One worker: what it reported, and the queries that it runs. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { cache } from "../api/cache.ts";
import { statusQuery, workerQuery } from "../api/queries.ts";
import type { WorkerDetail } from "../api/shapes.ts";
import { write } from "../api/writes.ts";
import { useMay } from "../shell/me.ts";
import { Badge, State, Tag } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/state.tsx";
import { PagedTable } from "../ui/table.tsx";
import { Ago, Since, Time } from "../ui/time.tsx";
import { toast } from "../ui/toast.tsx";
import { newestHash } from "./revisionHash.ts";
import { RevisionOf, sourceText } from "./workersPage.tsx";

export function WorkerPage() {
  const instanceId = useParams({ strict: false, select: (params) => params.instanceId ?? "" });
  const worker = useQuery(workerQuery(instanceId));
  const [asked, setAsked] = useState(false);
  const operator = useMay("operator");
  const navigate = useNavigate();
  const offline = worker.data?.status === "offline";
  return (
    <>
      <PageHead
        title={worker.data?.name ?? "Worker"}
        crumbs={<Link to="/workers">Workers</Link>}
        actions={
          operator && worker.data !== undefined ? (
            <Button
              disabled={!offline}
              hint={offline ? undefined : "Only a worker that is offline can be forgotten."}
              onClick={() => setAsked(true)}
            >
              Forget
            </Button>
          ) : undefined
        }
      />
      <Loaded query={worker}>{(data) => <Detail worker={data} />}</Loaded>
      {asked ? (
        <Confirm
          title="Forget this worker?"
          action="Forget"
          danger
          act={() => write("DELETE /workers/:instanceId", { names: [instanceId] })}
          onClose={(done) => {
            setAsked(false);
            if (!done) return;
            toast("The worker is forgotten.");
            cache.removeQueries({ queryKey: ["workers", instanceId] });
            void navigate({ to: "/workers" });
          }}
        >
          <p>If it comes back it registers anew. Its past queries stay in the history.</p>
        </Confirm>
      ) : null}
    </>
  );
}

function Detail({ worker }: { readonly worker: WorkerDetail }) {
  const status = useQuery(statusQuery);
  const newest = newestHash(status.data?.revision);
  return (
    <>
      {worker.lastError === undefined ? null : <div className="note warn">{worker.lastError}</div>}
      <Card title="As reported">
        <dl className="facts">
          <dt>State</dt>
          <dd>
            <State name={worker.status} /> {worker.stale ? <Badge tone="warn">stale</Badge> : null}
          </dd>
          <dt>Heard</dt>
          <dd>
            <Ago at={worker.lastSeenAt} />, every {worker.heartbeatIntervalSecs} s
          </dd>
          <dt>Registered</dt>
          <dd>
            <Time at={worker.registeredAt} />
          </dd>
          <dt>Runs under</dt>
          <dd>
            <RevisionOf revision={worker.activeRevision} newest={newest} />
          </dd>
          <dt>Has fetched</dt>
          <dd>
            <RevisionOf revision={worker.downloadedRevision} newest={newest} />
          </dd>
          <dt>Configuration from</dt>
          <dd>{sourceText(worker.configSource)}</dd>
          <dt>Version</dt>
          <dd>{worker.version}</dd>
          <dt>Instance</dt>
          <dd>
            <code>{worker.instanceId}</code>
          </dd>
          <dt>Labels</dt>
          <dd className="row">
            {Object.entries(worker.labels).map(([name, value]) => (
              <Tag key={name}>{`${name}: ${value}`}</Tag>
            ))}
          </dd>
        </dl>
      </Card>
      <Running worker={worker} />
    </>
  );
}

function Running({ worker }: { readonly worker: WorkerDetail }) {
  return (
    <Card
      title="Queries"
      actions={
        <Link to="/queries/history" search={{ worker: worker.name }}>
          Its history
        </Link>
      }
      flush
    >
      {worker.queries.length === 0 ? (
        <Empty title="It ran nothing at its last heartbeat" />
      ) : (
        <PagedTable
          caption="Queries of this worker"
          rows={worker.queries}
          keyOf={({ id }) => id}
          columns={[
            { title: "State", cell: ({ state }) => <State name={state} /> },
            {
              title: "Query",
              cell: ({ id }) => (
                <Link to="/queries/$id" params={{ id }}>
                  <code>{id}</code>
                </Link>
              ),
            },
            { title: "For", cell: ({ since }) => <Since at={since} />, end: true },
            { title: "Group", cell: ({ group }) => group ?? "–" },
            { title: "Cluster", cell: ({ cluster }) => cluster ?? "–" },
          ]}
        />
      )}
    </Card>
  );
}
