/** One group: its members' health, its queue, and its configuration. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useCallback } from "react";
import { step } from "../api/client.ts";
import { liveQuery } from "../api/live.ts";
import { objectsQuery, schemasQuery } from "../api/queries.ts";
import type { ConfigObject } from "../api/shapes.ts";
import type { Schema } from "../form/schema.ts";
import { countText } from "../tool/format.ts";
import type { Path } from "../tool/json.ts";
import { Health } from "../ui/badge.tsx";
import { Meter } from "../ui/meter.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/state.tsx";
import { Table } from "../ui/table.tsx";
import { DeleteButton } from "../write/deleteButton.tsx";
import { DeletedNote } from "../write/deletedNote.tsx";
import { EnabledSwitch } from "../write/enabledSwitch.tsx";
import { membersOf } from "../write/members.ts";
import { newName, useNaming, type Creation } from "../write/nameField.tsx";
import { ObjectEditor } from "../write/objectEditor.tsx";
import { useObject } from "../write/useObject.ts";

export function GroupPage() {
  const name = useParams({ strict: false, select: (params) => params.name ?? "" });
  return name === newName ? <NewGroup /> : <KnownGroup key={name} name={name} />;
}

function NewGroup() {
  const navigate = useNavigate();
  const groups = useQuery(objectsQuery("groups"));
  const taken = (groups.data ?? []).map((group) => group.name);
  const { name, creation, field } = useNaming("group", taken);
  return (
    <>
      <PageHead title="New group" crumbs={<Link to="/groups">Groups</Link>} />
      <Card>
        <div className="stack">
          <div className="form">{field}</div>
          <Editor
            name={name}
            object={null}
            creation={creation}
            onSaved={() =>
              void navigate({ to: "/groups/$name", params: { name }, ignoreBlocker: true })
            }
          />
        </div>
      </Card>
    </>
  );
}

function KnownGroup({ name }: { readonly name: string }) {
  const navigate = useNavigate();
  const path = `/groups/${step(name)}` as const;
  const group = useObject(path);
  const leave = (): void => void navigate({ to: "/groups", ignoreBlocker: true });
  return (
    <>
      <PageHead
        title={name}
        crumbs={<Link to="/groups">Groups</Link>}
        actions={
          group.data === undefined || group.data === null ? undefined : (
            <>
              <EnabledSwitch path={path} object={group.data} what="group" />
              <DeleteButton path={path} object={group.data} what="group" onDone={leave} />
            </>
          )
        }
      />
      <Loaded query={group}>
        {(object) =>
          object === null ? (
            <Card>
              <Empty title="There is no such group" action={<Link to="/groups">All groups</Link>} />
            </Card>
          ) : (
            <>
              <DeletedNote deleted={group.deleted} />
              <Now name={name} members={membersOf(object.body)} />
              <Card title="Configuration">
                <div className="stack">
                  <Editor name={name} object={object} onGone={leave} />
                </div>
              </Card>
            </>
          )
        }
      </Loaded>
    </>
  );
}

function Editor(props: {
  readonly name: string;
  readonly object: ConfigObject | null;
  readonly creation?: Creation;
  readonly onSaved?: () => void;
  readonly onGone?: () => void;
}) {
  const { name, object, creation, onSaved, onGone } = props;
  const schemas = useQuery(schemasQuery);
  const clusters = useQuery(objectsQuery("clusters"));
  const suggest = useCallback(
    (_schema: Schema, path: Path) =>
      path[0] === "members" ? (clusters.data ?? []).map((cluster) => cluster.name) : undefined,
    [clusters.data],
  );
  return (
    <Loaded query={schemas}>
      {({ clusterGroup }) => (
        <ObjectEditor
          path={`/groups/${step(name)}`}
          object={object}
          empty={empty}
          schema={clusterGroup}
          prefix={`clusterGroups.${name}.`}
          suggest={suggest}
          {...(creation === undefined ? {} : { creation })}
          {...(onSaved === undefined ? {} : { onSaved })}
          {...(onGone === undefined ? {} : { onGone })}
        />
      )}
    </Loaded>
  );
}

/** One empty place, so that the first thing to type is a cluster's name. */
const empty = { members: [""], maxRunningQueries: 10 };

function Now(props: { readonly name: string; readonly members: readonly string[] }) {
  const live = useQuery(liveQuery);
  const group = live.data?.groups.items.find(({ key }) => key === props.name);
  const clusters = new Map(live.data?.clusters.items.map((cluster) => [cluster.key, cluster]));
  return (
    <Card
      title="Now"
      actions={
        <span className="muted">
          {countText(group?.running ?? 0)} running, {countText(group?.queued ?? 0)} waiting
        </span>
      }
      flush
    >
      <Table
        caption="Members of the group"
        rows={props.members}
        keyOf={(member) => member}
        columns={[
          {
            title: "Member",
            cell: (member) => (
              <Link to="/clusters/$name" params={{ name: member }}>
                {member}
              </Link>
            ),
          },
          { title: "Engine", cell: (member) => clusters.get(member)?.engine ?? "–" },
          {
            title: "Health",
            cell: (member) => <Health health={clusters.get(member)?.health ?? "unknown"} />,
          },
          {
            title: "Running",
            end: true,
            cell: (member) => (
              <Meter value={clusters.get(member)?.running ?? 0} max={clusters.get(member)?.cap} />
            ),
          },
        ]}
      />
    </Card>
  );
}
