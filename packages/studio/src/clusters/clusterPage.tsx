/** One cluster: how it is, whether it can be reached, and its configuration as a form of its engine's own schema. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { step } from "../api/client.ts";
import { capabilitiesQuery } from "../api/consoleQueries.ts";
import { liveQuery } from "../api/live.ts";
import type { TestAnswer } from "../api/shapes.ts";
import { write } from "../api/writes.ts";
import { useMay } from "../shell/me.ts";
import { durationText } from "../tool/format.ts";
import { Health } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Meter } from "../ui/meter.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Failure, Loaded } from "../ui/state.tsx";
import { DeleteButton } from "../write/deleteButton.tsx";
import { DeletedNote } from "../write/deletedNote.tsx";
import { EnabledSwitch } from "../write/enabledSwitch.tsx";
import { newName } from "../write/nameField.tsx";
import { useObject } from "../write/useObject.ts";
import { ClusterEditor } from "./clusterEditor.tsx";
import { ItsGroups } from "./itsGroups.tsx";
import { NewClusterPage } from "./newClusterPage.tsx";

export function ClusterPage() {
  const name = useParams({ strict: false, select: (params) => params.name ?? "" });
  return name === newName ? <NewClusterPage /> : <KnownCluster key={name} name={name} />;
}

function KnownCluster({ name }: { readonly name: string }) {
  const navigate = useNavigate();
  const path = `/clusters/${step(name)}` as const;
  const cluster = useObject(path);
  const leave = (): void => void navigate({ to: "/clusters", ignoreBlocker: true });
  return (
    <>
      <PageHead
        title={name}
        crumbs={<Link to="/clusters">Clusters</Link>}
        actions={
          cluster.data === undefined || cluster.data === null ? undefined : (
            <>
              <EnabledSwitch path={path} object={cluster.data} what="cluster" />
              <DeleteButton path={path} object={cluster.data} what="cluster" onDone={leave} />
            </>
          )
        }
      />
      <Loaded query={cluster}>
        {(object) =>
          object === null ? (
            <Card>
              <Empty
                title="There is no such cluster"
                action={<Link to="/clusters">All clusters</Link>}
              />
            </Card>
          ) : (
            <>
              <DeletedNote deleted={cluster.deleted} />
              <Now name={name} />
              <ItsGroups cluster={name} />
              <Card title="Configuration">
                <div className="stack">
                  <ClusterEditor name={name} object={object} onGone={leave} />
                </div>
              </Card>
            </>
          )
        }
      </Loaded>
    </>
  );
}

function Now({ name }: { readonly name: string }) {
  const live = useQuery(liveQuery);
  const one = live.data?.clusters.items.find(({ key }) => key === name);
  return (
    <Card title="Now" actions={<Test name={name} />}>
      <dl className="facts">
        <dt>Health</dt>
        <dd>
          <Health health={one?.health ?? "unknown"} />
        </dd>
        <dt>Running in the fleet</dt>
        <dd>{one === undefined ? "–" : <Meter value={one.running} max={one.cap} />}</dd>
        {Object.entries(one?.breakers ?? {}).map(([group, state]) => (
          <Breaker key={group} group={group} state={state} />
        ))}
      </dl>
    </Card>
  );
}

const breakers = {
  closed: "closed: queries go through",
  open: "open: nothing goes there",
  halfOpen: "half open: one query tries",
};

function Breaker({
  group,
  state,
}: {
  readonly group: string;
  readonly state: keyof typeof breakers;
}) {
  return (
    <>
      <dt>Circuit breaker of {group}</dt>
      <dd>{breakers[state]}</dd>
    </>
  );
}

/** Opens the cluster as it is saved, for a moment. */
function Test({ name }: { readonly name: string }) {
  const operator = useMay("operator");
  const capabilities = useQuery(capabilitiesQuery);
  const test = useMutation({
    mutationFn: () => write<TestAnswer>("POST /clusters/:name/test", { names: [name] }),
  });
  if (!operator) return null;
  const here = capabilities.data?.testCluster !== false;
  return (
    <span className="row">
      {test.error === null ? null : <Failure error={test.error} />}
      {test.data === undefined ? null : (
        <span className={test.data.reached ? "note ok" : "note bad"} role="status">
          {test.data.reached
            ? `It answered in ${durationText(test.data.tookMs)}.`
            : `Not reached: ${test.data.reason}`}
        </span>
      )}
      <Button
        small
        busy={test.isPending}
        disabled={!here}
        hint={
          here ? undefined : "This control plane runs as a function, where no engine can be loaded."
        }
        onClick={() => test.mutate()}
      >
        {test.isPending ? "Testing …" : "Test connection"}
      </Button>
    </span>
  );
}
