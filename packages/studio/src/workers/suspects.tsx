/** Slots whose holder is gone while the engine has not said that their statement ended. Only a person can look. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { cache } from "../api/cache.ts";
import { suspectsQuery } from "../api/queries.ts";
import type { Suspect } from "../api/shapes.ts";
import { write } from "../api/writes.ts";
import { useMay } from "../shell/me.ts";
import { countText, durationText } from "../tool/format.ts";
import { State } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Card } from "../ui/page.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { toast } from "../ui/toast.tsx";

export function Suspects() {
  const { data } = useQuery(suspectsQuery);
  const admin = useMay("admin");
  const [asked, setAsked] = useState<Suspect>();
  // None is the ordinary state, of which nobody has to read.
  if (data === undefined || data.length === 0) return null;
  const columns: readonly Column<Suspect>[] = [
    { title: "Cluster", cell: ({ cluster }) => cluster },
    { title: "Group", cell: ({ group }) => group },
    { title: "Slot", cell: ({ slot }) => countText(slot), end: true },
    { title: "Holder", cell: ({ holder }) => <State name={holder} /> },
    {
      title: "Ran out",
      cell: ({ expiredForMs }) => `${durationText(expiredForMs)} ago`,
      end: true,
    },
    {
      title: "Marked in the engine",
      cell: ({ instance, lease }) => <code>{`gateway/${instance}/${lease}/`}</code>,
    },
    ...(admin
      ? [
          {
            title: "Actions",
            end: true,
            cell: (suspect: Suspect) => (
              <Button small onClick={() => setAsked(suspect)}>
                Free
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <Card title="Slots in doubt" flush>
      <Table caption="Slots in doubt" rows={data} keyOf={({ lease }) => lease} columns={columns} />
      {asked === undefined ? null : (
        <Confirm
          title="Give this slot again?"
          action="Free the slot"
          danger
          act={async () => {
            await write("POST /capacity/suspects/:lease/free", { names: [asked.lease] });
            await cache.invalidateQueries({ queryKey: suspectsQuery.queryKey });
            toast("The slot is free.");
          }}
          onClose={() => setAsked(undefined)}
        >
          <p>
            Look into the engine first. While a statement marked{" "}
            <code>{`gateway/${asked.instance}/${asked.lease}/`}</code> still runs, cluster{" "}
            {asked.cluster} would run one more than its cap.
          </p>
        </Confirm>
      )}
    </Card>
  );
}
