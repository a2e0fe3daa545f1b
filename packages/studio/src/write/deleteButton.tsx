/** Deletes an object of the configuration after a question; what still uses it is named by the API. */
import { useState } from "react";
import type { ConfigObject } from "../api/shapes.ts";
import { useMay } from "../shell/me.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { toast } from "../ui/toast.tsx";
import { deleteObject, type NamedPath } from "./write.ts";

export function DeleteButton(props: {
  readonly path: NamedPath;
  readonly object: ConfigObject;
  /** `cluster` */
  readonly what: string;
  readonly onDone: () => void;
}) {
  const { path, object, what, onDone } = props;
  const admin = useMay("admin");
  const [asked, setAsked] = useState(false);
  if (!admin) return null;
  return (
    <>
      <Button onClick={() => setAsked(true)}>Delete</Button>
      {asked ? (
        <Confirm
          title={`Delete ${what} ${object.name}?`}
          action={`Delete ${what}`}
          danger
          act={() => deleteObject(path, object.version)}
          onClose={(done) => {
            setAsked(false);
            if (!done) return;
            toast(`Deleted ${what} ${object.name}.`);
            onDone();
          }}
        >
          <p>
            Queries that run keep going. The revision before can be brought back on the page of
            revisions.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}
