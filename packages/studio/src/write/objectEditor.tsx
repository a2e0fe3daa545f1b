/** Edits one object of the configuration: as a form or as JSON, the changes reviewed before they are saved. */
import { useMutation } from "@tanstack/react-query";
import { useBlocker } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { ApiError } from "../api/client.ts";
import type { ConfigObject } from "../api/shapes.ts";
import { SchemaForm } from "../form/schemaForm.tsx";
import type { FormContextValue } from "../form/context.ts";
import type { Schema } from "../form/schema.ts";
import { useMay } from "../shell/me.ts";
import { changesOf, sameJson, type JsonObject } from "../tool/json.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/state.tsx";
import { toast } from "../ui/toast.tsx";
import { ChangeList } from "./changes.tsx";
import { Conflict } from "./conflict.tsx";
import { JsonEditor } from "./jsonEditor.tsx";
import type { Creation } from "./nameField.tsx";
import { putObject, type WriteResult, type ObjectPath } from "./write.ts";

export interface ObjectEditorProps {
  /** `/clusters/main` */
  readonly path: ObjectPath;
  /** Null: it is new. */
  readonly object: ConfigObject | null;
  /** What a new one begins with. */
  readonly empty: JsonObject;
  readonly schema: Schema | undefined;
  /** How the API begins its paths: `clusters.main.` */
  readonly prefix: string;
  readonly suggest?: FormContextValue["suggest"];
  /** It is made under a name that is typed beside it: saved at once, because there is nothing to compare it with. */
  readonly creation?: Creation;
  /** What the editing begins with, made of what is there. */
  readonly begin?: (body: JsonObject) => JsonObject;
  /** Replaces the form, with the same state. */
  readonly form?: (edit: FormEdit) => ReactNode;
  /** Stands below the form, and sees what is not saved yet. */
  readonly below?: (value: JsonObject) => ReactNode;
  readonly onSaved?: () => void;
  readonly onGone?: () => void;
}

export interface FormEdit {
  readonly value: JsonObject;
  readonly onChange: (value: JsonObject) => void;
  readonly readOnly: boolean;
  readonly faults: ApiError["faults"];
}

interface Draft {
  readonly base: JsonObject;
  readonly version: number | "absent";
  readonly value: JsonObject;
}

export function ObjectEditor(props: ObjectEditorProps) {
  const readOnly = !useMay("admin");
  const edit = useEdit(props);
  const { draft, setDraft, save } = edit;
  const faults = save.error instanceof ApiError ? save.error.faults : [];
  const change = (value: JsonObject): void => setDraft({ ...draft, value });
  return (
    <>
      <LeaveQuestion edited={!sameJson(draft.base, draft.value)} />
      {save.error === null ? null : <Failure error={save.error} />}
      <Body {...props} edit={{ value: draft.value, readOnly, faults, onChange: change }} />
      {readOnly ? null : <Saving {...props} edit={edit} />}
      {props.below?.(draft.value)}
    </>
  );
}

/** The draft, and saving it. */
function useEdit({ path, object, empty, begin, onSaved }: ObjectEditorProps) {
  const [draft, setDraft] = useState<Draft>(() => {
    const first = draftOf(object, empty);
    return begin === undefined ? first : { ...first, value: begin(first.value) };
  });
  // Somebody else's save is taken over as long as nothing was edited here.
  if (
    object !== null &&
    object.version > Number(draft.version) &&
    sameJson(draft.base, draft.value)
  ) {
    setDraft(draftOf(object, empty));
  }
  const [review, setReview] = useState(false);
  const [theirs, setTheirs] = useState<ConfigObject | null>();
  const save = useMutation({
    mutationFn: ({ body, version }: { body: JsonObject; version: Draft["version"] }) =>
      putObject(path, body, version),
    onSuccess: (result: WriteResult) => {
      setReview(false);
      if (result.kind === "conflict") return setTheirs(result.theirs);
      const { changed } = result.object;
      setTheirs(undefined);
      setDraft(draftOf(result.object, empty));
      toast(changed ? "Saved. Workers are told now." : "Nothing differed: no revision was made.");
      onSaved?.();
    },
    onError: () => {
      setReview(false);
      setTheirs(undefined);
    },
  });
  return { draft, setDraft, review, setReview, theirs, setTheirs, save };
}

/** The bar below, the question before a save, and the conflict after one. */
function Saving(props: ObjectEditorProps & { readonly edit: ReturnType<typeof useEdit> }) {
  const { draft, setDraft, review, setReview, theirs, setTheirs, save } = props.edit;
  const { creation } = props;
  const write = (): void => save.mutate({ body: draft.value, version: draft.version });
  const changes = changesOf(draft.base, draft.value).length;
  const isNew = draft.version === "absent";
  return (
    <>
      <SaveBar
        changes={changes}
        isNew={isNew}
        changed={isNew || changes > 0}
        busy={save.isPending}
        creation={creation}
        onDrop={() => {
          save.reset();
          setDraft({ ...draft, value: draft.base });
        }}
        onSave={() => (creation === undefined ? setReview(true) : write())}
      />
      {review ? (
        <Review
          draft={draft}
          busy={save.isPending}
          onClose={() => setReview(false)}
          onSave={write}
        />
      ) : null}
      {theirs === undefined ? null : (
        <Conflict
          base={draft.base}
          mine={draft.value}
          theirs={theirs}
          busy={save.isPending}
          onSave={(body) => save.mutate({ body, version: theirs?.version ?? "absent" })}
          onTakeTheirs={() => {
            setTheirs(undefined);
            if (theirs === null) props.onGone?.();
            else setDraft(draftOf(theirs, props.empty));
          }}
          onClose={() => setTheirs(undefined)}
        />
      )}
    </>
  );
}

function draftOf(object: ConfigObject | null, empty: JsonObject): Draft {
  return object === null
    ? { base: empty, version: "absent", value: empty }
    : { base: object.body, version: object.version, value: object.body };
}

function Body(props: ObjectEditorProps & { readonly edit: FormEdit }) {
  const { schema, prefix, suggest, form, edit } = props;
  const [asJson, setAsJson] = useState(schema === undefined);
  const id = `as ${prefix}`;
  return (
    <>
      {schema === undefined ? null : (
        <fieldset className="choices">
          <legend className="hidden-text">Edit as</legend>
          {[false, true].map((json) => (
            <label key={String(json)} className="choice">
              <input
                type="radio"
                name={id}
                checked={asJson === json}
                onChange={() => setAsJson(json)}
              />
              {json ? "JSON" : "Form"}
            </label>
          ))}
        </fieldset>
      )}
      {asJson || schema === undefined ? (
        <JsonEditor {...edit} />
      ) : form === undefined ? (
        <SchemaForm
          {...edit}
          schema={schema}
          prefix={prefix}
          {...(suggest === undefined ? {} : { suggest })}
        />
      ) : (
        form(edit)
      )}
    </>
  );
}

/** Before unsaved changes are left behind. */
function LeaveQuestion({ edited }: { readonly edited: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: () => edited,
    enableBeforeUnload: edited,
    withResolver: true,
  });
  if (blocker.status !== "blocked") return null;
  return (
    <Dialog
      title="Leave without saving?"
      onClose={blocker.reset}
      foot={
        <>
          <Button onClick={blocker.reset}>Stay</Button>
          <Button kind="danger" onClick={blocker.proceed}>
            Leave
          </Button>
        </>
      }
    >
      <p>Your changes here are not saved.</p>
    </Dialog>
  );
}

function SaveBar(props: {
  readonly changes: number;
  readonly isNew: boolean;
  readonly changed: boolean;
  readonly busy: boolean;
  readonly creation: Creation | undefined;
  readonly onDrop: () => void;
  readonly onSave: () => void;
}) {
  const { changes, isNew, changed, busy, creation, onDrop, onSave } = props;
  const missing = creation?.missing;
  return (
    <div className="save-bar">
      <span role="status">
        {isNew
          ? (missing ?? "New, not saved yet")
          : changes === 0
            ? "No changes"
            : `${changes} ${changes === 1 ? "change" : "changes"}`}
      </span>
      <span className="row">
        <Button disabled={changes === 0} onClick={onDrop}>
          Undo
        </Button>
        <Button
          kind="primary"
          disabled={!changed || missing !== undefined}
          hint={missing}
          busy={busy}
          onClick={onSave}
        >
          {creation?.action ?? "Review and save"}
        </Button>
      </span>
    </div>
  );
}

function Review(props: {
  readonly draft: Draft;
  readonly busy: boolean;
  readonly onClose: () => void;
  readonly onSave: () => void;
}) {
  const { draft, busy, onClose, onSave } = props;
  return (
    <Dialog
      wide
      title={draft.version === "absent" ? "Create it?" : "Save these changes?"}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Go on editing</Button>
          <Button kind="primary" busy={busy} onClick={onSave}>
            Save
          </Button>
        </>
      }
    >
      <ChangeList
        caption="Changes"
        changes={changesOf(draft.version === "absent" ? {} : draft.base, draft.value)}
      />
      <p className="muted">Saving makes a new revision, which every worker takes at once.</p>
    </Dialog>
  );
}
