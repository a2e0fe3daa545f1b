/** The configuration of a cluster, as a form of its engine's own schema. */
import { useQuery } from "@tanstack/react-query";
import { step } from "../api/client.ts";
import { schemasQuery } from "../api/queries.ts";
import type { ConfigObject } from "../api/shapes.ts";
import { Loaded } from "../ui/state.tsx";
import type { Creation } from "../write/nameField.tsx";
import { ObjectEditor } from "../write/objectEditor.tsx";

export function ClusterEditor(props: {
  readonly name: string;
  /** Null: it is new. */
  readonly object: ConfigObject | null;
  readonly creation?: Creation;
  readonly onSaved?: () => void;
  readonly onGone?: () => void;
}) {
  const { name, object, creation, onSaved, onGone } = props;
  const schemas = useQuery(schemasQuery);
  return (
    <Loaded query={schemas}>
      {({ cluster }) => (
        <ObjectEditor
          path={`/clusters/${step(name)}`}
          object={object}
          empty={empty}
          schema={cluster}
          prefix={`clusters.${name}.`}
          {...(creation === undefined ? {} : { creation })}
          {...(onSaved === undefined ? {} : { onSaved })}
          {...(onGone === undefined ? {} : { onGone })}
        />
      )}
    </Loaded>
  );
}

const empty = {};
