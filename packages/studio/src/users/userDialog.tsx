/** Adds or changes one user. The version that was read goes with the write; who lost the race sees what is there now. */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { cache } from "../api/cache.ts";
import { ApiError, ask, step } from "../api/client.ts";
import { usersQuery } from "../api/queries.ts";
import { roles, type Role, type User } from "../api/shapes.ts";
import { write } from "../api/writes.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Select, TextInput } from "../ui/field.tsx";
import { Failure } from "../ui/state.tsx";
import { toast } from "../ui/toast.tsx";

const rights: Readonly<Record<Role, string>> = {
  viewer: "viewer: reads, without SQL",
  operator: "operator: also reads SQL, cancels, tests, runs queries",
  admin: "admin: also writes, and sees users and the audit log",
};

/** `user` undefined: a new one. */
export function UserDialog(props: {
  readonly user: User | undefined;
  readonly onClose: () => void;
}) {
  const { onClose } = props;
  const [user, setUser] = useState(props.user);
  const [name, setName] = useState(user?.name ?? "");
  const [draft, setDraft] = useState<Draft>(() => draftOf(user));
  const save = useMutation({
    mutationFn: () =>
      write<User>("PUT /users/:name", {
        names: [name],
        expected: user?.version ?? "absent",
        body: bodyOf(draft),
      }),
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: usersQuery.queryKey });
      toast(`Saved user ${name}.`);
      onClose();
    },
  });
  const lost = save.error instanceof ApiError && save.error.status === 412;
  const readAnew = async (): Promise<void> => {
    const now = await ask<User>(`/users/${step(name)}`);
    setUser(now);
    setDraft(draftOf(now));
    save.reset();
  };
  return (
    <Dialog
      title={user === undefined ? "Add a user" : `Change ${user.name}`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Leave</Button>
          <Button
            kind="primary"
            busy={save.isPending}
            disabled={name === ""}
            onClick={() => save.mutate()}
          >
            Save
          </Button>
        </>
      }
    >
      {save.error === null ? null : <Failure error={save.error} />}
      {lost && user !== undefined ? (
        <span>
          <Button onClick={() => void readAnew().catch(onClose)}>Show what is there now</Button>
        </span>
      ) : null}
      {props.user === undefined ? (
        <TextInput label="Name" value={name} onChange={setName} required />
      ) : null}
      <Fields isNew={user === undefined} draft={draft} onChange={setDraft} />
    </Dialog>
  );
}

interface Draft {
  readonly role: Role;
  readonly disabled: boolean;
  /** Empty: the one that is set stays. */
  readonly password: string;
}

function draftOf(user: User | undefined): Draft {
  return { role: user?.role ?? "viewer", disabled: user?.disabled ?? false, password: "" };
}

function bodyOf({ role, disabled, password }: Draft) {
  return { role, disabled, ...(password === "" ? {} : { password }) };
}

function Fields(props: {
  readonly isNew: boolean;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}) {
  const { isNew, draft, onChange } = props;
  return (
    <>
      <Select
        label="Role"
        value={draft.role}
        options={roles.map((each) => ({ value: each, title: rights[each] }))}
        onChange={(value) => onChange({ ...draft, role: value as Role })}
      />
      <TextInput
        label={isNew ? "Password" : "New password"}
        type="password"
        value={draft.password}
        onChange={(password) => onChange({ ...draft, password })}
        autoComplete="new-password"
        hint={
          isNew
            ? "12 characters to 72 bytes."
            : "Empty keeps the one that is set. A new one ends the user's sessions."
        }
      />
      <label className="choice">
        <input
          type="checkbox"
          checked={draft.disabled}
          onChange={({ target }) => onChange({ ...draft, disabled: target.checked })}
        />
        Disabled: can not log in
      </label>
    </>
  );
}
