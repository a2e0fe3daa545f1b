/** A new cluster: its name, its engine with that engine's own form, and the group by which queries come to it. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { objectsQuery } from "../api/queries.ts";
import { Select } from "../ui/field.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { toast } from "../ui/toast.tsx";
import { useNaming } from "../write/nameField.tsx";
import { ClusterEditor } from "./clusterEditor.tsx";
import { joinGroup, ownGroup, ownGroupCap } from "./joinGroup.ts";

export function NewClusterPage() {
  const navigate = useNavigate();
  const clusters = useQuery(objectsQuery("clusters"));
  const groups = useQuery(objectsQuery("groups")).data ?? [];
  const taken = (clusters.data ?? []).map((cluster) => cluster.name);
  const { name, creation, field } = useNaming("cluster", taken);
  const [chosen, setChosen] = useState(ownGroup);
  const leave = async (): Promise<void> => {
    const problem = await joinGroup(name, chosen, groups);
    if (problem !== undefined) toast(`${name} is saved and in no group: ${problem}`);
    await navigate({ to: "/clusters/$name", params: { name }, ignoreBlocker: true });
  };
  return (
    <>
      <PageHead title="New cluster" crumbs={<Link to="/clusters">Clusters</Link>} />
      <Card>
        <div className="stack">
          <div className="form">
            {field}
            <Select
              label="Queries come through"
              value={chosen}
              options={[
                { value: ownGroup, title: "A new group of the same name" },
                ...groups.map((group) => ({ value: group.name, title: `Group ${group.name}` })),
                { value: "", title: "No group yet" },
              ]}
              hint={`Rules lead to groups. A new one lets ${ownGroupCap} queries run at once.`}
              onChange={setChosen}
            />
          </div>
          <ClusterEditor
            name={name}
            object={null}
            creation={creation}
            onSaved={() => void leave()}
          />
        </div>
      </Card>
    </>
  );
}
