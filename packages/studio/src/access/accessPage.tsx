/** Who may log in as a client, who may route where, and what nobody may run; and a dry run that says what they come to. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { objectsQuery } from "../api/queries.ts";
import type { ConfigObject } from "../api/shapes.ts";
import { useMay } from "../shell/me.ts";
import { isObject, type Json } from "../tool/json.ts";
import { DryRun } from "../write/dryRun.tsx";
import { Tag } from "../ui/badge.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/state.tsx";
import { Table } from "../ui/table.tsx";
import { accessSettings, SettingsTable } from "../write/settingsTable.tsx";

export function AccessPage() {
  const groups = useQuery(objectsQuery("groups"));
  const operator = useMay("operator");
  return (
    <>
      <PageHead
        title="Access"
        lead="How clients prove who they are, who may use which group, which statements are refused, and who sees which rows."
      />
      <SettingsTable shown={(name) => accessSettings.has(name)} title="Providers and policies" />
      <Loaded query={groups}>{(items) => <AllowLists groups={items} />}</Loaded>
      {operator ? <DryRun title="Dry run: may this user run this, and see what?" /> : null}
    </>
  );
}

function AllowLists({ groups }: { readonly groups: readonly ConfigObject[] }) {
  return (
    <Card title="Allow lists" flush>
      {groups.length === 0 ? (
        <Empty title="No group yet">Each group says who may use it.</Empty>
      ) : (
        <Table
          caption="Allow lists of groups"
          rows={groups}
          keyOf={({ name }) => name}
          columns={[
            {
              title: "Group",
              cell: ({ name }) => (
                <Link to="/groups/$name" params={{ name }}>
                  {name}
                </Link>
              ),
            },
            {
              title: "Users",
              cell: ({ body }) => <Names list={listOf(body["authorization"], "allowUsers")} />,
            },
            {
              title: "User groups",
              cell: ({ body }) => <Names list={listOf(body["authorization"], "allowGroups")} />,
            },
            { title: "So it is open to", cell: ({ body }) => openTo(body["authorization"]) },
          ]}
        />
      )}
    </Card>
  );
}

function listOf(authorization: Json | undefined, name: string): readonly string[] | undefined {
  const list = isObject(authorization) ? authorization[name] : undefined;
  return Array.isArray(list) ? list.map(String) : undefined;
}

function openTo(authorization: Json | undefined): string {
  const users = listOf(authorization, "allowUsers");
  const groups = listOf(authorization, "allowGroups");
  if (users === undefined && groups === undefined) return "everyone";
  return (users ?? []).length + (groups ?? []).length === 0 ? "nobody" : "those in either list";
}

function Names({ list }: { readonly list: readonly string[] | undefined }) {
  if (list === undefined) return <span className="muted">–</span>;
  return (
    <span className="row">
      {list.map((name) => (
        <Tag key={name}>{name}</Tag>
      ))}
    </span>
  );
}
