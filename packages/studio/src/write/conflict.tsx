/**
 * Somebody saved between reading and writing. Both sides' changes are shown against where both began; what touches
 * different settings is put together, and where both changed one setting the writer chooses.
 */
import { useState } from "react";
import type { ConfigObject } from "../api/shapes.ts";
import {
  changesOf,
  jsonText,
  mergeOf,
  pathText,
  withAt,
  type Json,
  type JsonObject,
} from "../tool/json.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Time } from "../ui/time.tsx";
import { ChangeList } from "./changes.tsx";

export interface ConflictProps {
  readonly base: JsonObject;
  readonly mine: JsonObject;
  /** Null: it was deleted. */
  readonly theirs: ConfigObject | null;
  readonly busy: boolean;
  /** Saves over what is there now. */
  readonly onSave: (body: JsonObject) => void;
  /** Lets the own changes go. */
  readonly onTakeTheirs: () => void;
  /** Goes on editing. */
  readonly onClose: () => void;
}

export function Conflict(props: ConflictProps) {
  return props.theirs === null ? <Deleted {...props} /> : <Both {...props} theirs={props.theirs} />;
}

function Deleted({ mine, busy, onSave, onTakeTheirs, onClose }: ConflictProps) {
  return (
    <Dialog
      title="Somebody deleted it meanwhile"
      onClose={onClose}
      foot={
        <>
          <Button onClick={onTakeTheirs}>Let it be deleted</Button>
          <Button kind="primary" busy={busy} onClick={() => onSave(mine)}>
            Create it again with my content
          </Button>
        </>
      }
    >
      <p>Your content is still here, and nothing was written.</p>
    </Dialog>
  );
}

type Side = "mine" | "theirs";

function Both(props: ConflictProps & { readonly theirs: ConfigObject }) {
  const { base, mine, theirs, busy, onSave, onTakeTheirs, onClose } = props;
  const [chosen, setChosen] = useState<Readonly<Record<string, Side>>>({});
  const { merged, clashes } = mergeOf(base, mine, theirs.body);
  const open = clashes.filter(({ path }) => chosen[pathText(path)] === undefined).length;
  const result = clashes.reduce<Json>(
    (body, { path, mine: change }) =>
      chosen[pathText(path)] === "mine" ? (withAt(body, path, change.to) ?? {}) : body,
    merged,
  );
  return (
    <Dialog
      wide
      title="Somebody else saved it meanwhile"
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Go on editing</Button>
          <Button onClick={onTakeTheirs}>Drop my changes</Button>
          <Button
            kind="primary"
            busy={busy}
            disabled={open > 0}
            hint={open > 0 ? "Choose for each setting first." : undefined}
            onClick={() => onSave(result as JsonObject)}
          >
            Save both together
          </Button>
        </>
      }
    >
      <p>
        <strong>{theirs.updatedBy}</strong> saved version {theirs.version} (
        <Time at={theirs.updatedAt} />
        ). Nothing of yours was written yet.
      </p>
      {clashes.length === 0 ? (
        <div className="note ok">You changed different settings, so both can be kept.</div>
      ) : (
        <div className="stack">
          <h3>You both changed</h3>
          {clashes.map(({ path, mine: my, theirs: their }) => (
            <Clash
              key={pathText(path)}
              name={pathText(path)}
              before={my.from}
              mine={my.to}
              theirs={their.to}
              chosen={chosen[pathText(path)]}
              onChoose={(side) => setChosen({ ...chosen, [pathText(path)]: side })}
            />
          ))}
        </div>
      )}
      <h3>What they changed</h3>
      <ChangeList caption="Their changes" changes={changesOf(base, theirs.body)} />
      <h3>What you changed</h3>
      <ChangeList caption="Your changes" changes={changesOf(base, mine)} />
    </Dialog>
  );
}

function Clash(props: {
  readonly name: string;
  readonly before: Json | undefined;
  readonly mine: Json | undefined;
  readonly theirs: Json | undefined;
  readonly chosen: Side | undefined;
  readonly onChoose: (side: Side) => void;
}) {
  const { name, before, chosen, onChoose } = props;
  const option = (side: Side, title: string) => (
    <label className="choice">
      <input
        type="radio"
        name={`clash ${name}`}
        checked={chosen === side}
        onChange={() => onChoose(side)}
      />
      <span>
        {title}: <code>{textOf(props[side])}</code>
      </span>
    </label>
  );
  return (
    <fieldset className="nest">
      <legend className="hidden-text">{name}</legend>
      <span>
        <code>{name}</code> <span className="muted">was</span> <code>{textOf(before)}</code>
      </span>
      {option("theirs", "Theirs")}
      {option("mine", "Mine")}
    </fieldset>
  );
}

/** A text of several lines stands below, beside what it was. */
function textOf(value: Json | undefined): string {
  if (typeof value === "string" && value.includes("\n")) return "the text below";
  return value === undefined ? "not set" : jsonText(value);
}
