/** Settings that concern everything, each an object with a version; and how this control plane stands. */
import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "../api/queries.ts";
import type { Status } from "../api/shapes.ts";
import { Card, PageHead } from "../ui/page.tsx";
import { Loaded } from "../ui/state.tsx";
import { Ago, Time } from "../ui/time.tsx";
import { accessSettings, SettingsTable } from "../write/settingsTable.tsx";

export function SettingsPage() {
  const status = useQuery(statusQuery);
  return (
    <>
      <PageHead title="Settings" />
      <SettingsTable shown={(name) => !accessSettings.has(name)} title="Settings" />
      <Loaded query={status}>{(data) => <Here status={data} />}</Loaded>
    </>
  );
}

function Here({ status }: { readonly status: Status }) {
  const { revision, builtAt, fresh, store, host, workerApi, runsQueries } = status;
  return (
    <Card title="This control plane">
      <dl className="facts">
        <dt>Revision</dt>
        <dd>
          <code>{revision ?? "none yet"}</code>
        </dd>
        <dt>Made</dt>
        <dd>{builtAt === undefined ? "–" : <Time at={builtAt} />}</dd>
        <dt>Confirmed by the database</dt>
        <dd>
          <Ago at={fresh.confirmedAt} />
        </dd>
        <dt>Database</dt>
        <dd>
          {store.kind}
          {store.limits.map((limit) => (
            <div key={limit} className="muted">
              {limit}
            </div>
          ))}
        </dd>
        <dt>Runs as</dt>
        <dd>{host}</dd>
        <dt>Serves workers</dt>
        <dd>{workerApi ? "yes" : "no"}</dd>
        <dt>Runs queries</dt>
        <dd>{runsQueries ? "yes" : "no"}</dd>
      </dl>
    </Card>
  );
}
