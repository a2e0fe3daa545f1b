/** One rule: what it says in a line, and its form when it is opened. */
import { useState } from "react";
import { kindOf, type Schema } from "../form/schema.ts";
import { SchemaField } from "../form/schemaField.tsx";
import type { Json } from "../tool/json.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { ruleText } from "./ruleText.ts";

export interface RuleProps {
  readonly router: Json;
  /** From 0. */
  readonly place: number;
  readonly last: boolean;
  readonly schema: Schema;
  readonly readOnly: boolean;
  readonly open: boolean;
  /** The place of the rule that is being dragged. */
  readonly dragged: number | undefined;
  readonly onOpen: () => void;
  readonly onChange: (router: Json) => void;
  readonly onRemove: () => void;
  readonly onMove: (to: number) => void;
  readonly onDrag: (place: number | undefined) => void;
  readonly onDrop: () => void;
}

export function Rule(props: RuleProps) {
  const { router, place, schema, readOnly, open, dragged, onChange } = props;
  const { onDrag, onDrop } = props;
  const [over, setOver] = useState(false);
  const marks = [
    "rule",
    over && dragged !== undefined && dragged !== place ? "over" : "",
    dragged === place ? "dragged" : "",
  ];
  return (
    <li>
      <div
        className={marks.filter(Boolean).join(" ")}
        draggable={!readOnly && !open}
        onDragStart={() => onDrag(place)}
        onDragEnd={() => onDrag(undefined)}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          onDrop();
        }}
      >
        <span className="handle">{readOnly ? null : <Icon name="grip" />}</span>
        <span className="place">{place + 1}</span>
        <Said router={router} schema={schema} />
        <Buttons {...props} />
      </div>
      {open ? (
        <div className="nest">
          <SchemaField
            name="rule"
            schema={schema}
            path={["routers", place]}
            value={router}
            required
            onChange={(next) => onChange(next ?? {})}
          />
        </div>
      ) : null}
    </li>
  );
}

function Said({ router, schema }: { readonly router: Json; readonly schema: Schema }) {
  const kind = kindOf(schema, schema);
  const said = ruleText(router, kind.kind === "union" ? kind : undefined);
  return (
    <span>
      <strong>{said.title}</strong>
      <span className="muted small wrap"> {said.text}</span>
    </span>
  );
}

function Buttons({ place, last, readOnly, open, onOpen, onMove, onRemove }: RuleProps) {
  const number = place + 1;
  return (
    <span className="row">
      {readOnly ? null : (
        <>
          <IconButton
            small
            icon="up"
            name={`Move rule ${number} up`}
            disabled={place === 0}
            onClick={() => onMove(place - 1)}
          />
          <IconButton
            small
            icon="down"
            name={`Move rule ${number} down`}
            disabled={last}
            onClick={() => onMove(place + 1)}
          />
        </>
      )}
      <Button small onClick={onOpen}>
        {open ? "Close" : readOnly ? "Show" : "Edit"}
        <span className="hidden-text"> rule {number}</span>
      </Button>
      {readOnly ? null : (
        <IconButton small icon="trash" name={`Remove rule ${number}`} onClick={onRemove} />
      )}
    </span>
  );
}
