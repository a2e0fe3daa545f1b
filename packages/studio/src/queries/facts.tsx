/** What a record says besides: who, where, as whom, how much. */
import type { HistoryRecord } from "../api/shapes.ts";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { bytesText, countText } from "../tool/format.ts";
import { Tag } from "../ui/badge.tsx";
import { Card } from "../ui/page.tsx";

export function Facts({ record }: { readonly record: HistoryRecord }) {
  const { clusterGroup, cluster, catalog, schema, engineStats } = record;
  const stats = Object.entries(engineStats);
  return (
    <Card title="Facts">
      <dl className="facts">
        <Fact name="User">{record.user}</Fact>
        <Fact name="From">{record.clientAddress}</Fact>
        <Fact name="Over">{record.frontend}</Fact>
        <Fact name="Group">{clusterGroup === undefined ? undefined : groupLink(clusterGroup)}</Fact>
        <Fact name="Cluster">{cluster === undefined ? undefined : clusterLink(cluster)}</Fact>
        <Fact name="Engine">{record.engine}</Fact>
        <Fact name="Worker">{record.worker}</Fact>
        <Fact name="Identity mode">{record.backendIdentityMode}</Fact>
        <Fact name="Seen by the engine as">{record.enginePrincipal}</Fact>
        <Fact name="Catalog and schema">{joined(catalog, schema)}</Fact>
        <Fact name="Id in the engine">{codeOf(record.backendQueryId)}</Fact>
        <Fact name="Rows">{countText(record.rowsReturned)}</Fact>
        <Fact name="Bytes">{bytesText(record.bytesReturned)}</Fact>
        <Fact name="Tags">{tagsOf(record.tags)}</Fact>
        <Fact name="Digest">{codeOf(record.digestHash)}</Fact>
        <Fact name="Revision">{codeOf(record.revision)}</Fact>
        {stats.map(([name, value]) => (
          <Fact key={name} name={`Engine: ${name}`}>
            {countText(value)}
          </Fact>
        ))}
      </dl>
    </Card>
  );
}

/** Nothing where it is not known. */
function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  if (children === undefined || children === "") return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function groupLink(name: string): ReactNode {
  return (
    <Link to="/groups/$name" params={{ name }}>
      {name}
    </Link>
  );
}

function clusterLink(name: string): ReactNode {
  return (
    <Link to="/clusters/$name" params={{ name }}>
      {name}
    </Link>
  );
}

function codeOf(text: string | undefined): ReactNode {
  return text === undefined ? undefined : <code>{text}</code>;
}

function joined(catalog: string | undefined, schema: string | undefined): string | undefined {
  const names = [catalog, schema].filter((name) => name !== undefined && name !== "");
  return names.length === 0 ? undefined : names.join(".");
}

function tagsOf(tags: Readonly<Record<string, string>>): ReactNode {
  const entries = Object.entries(tags);
  if (entries.length === 0) return undefined;
  return (
    <span className="row">
      {entries.map(([name, value]) => (
        <Tag key={name}>{value === "" ? name : `${name}: ${value}`}</Tag>
      ))}
    </span>
  );
}
