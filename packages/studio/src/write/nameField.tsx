/** A new object's name, chosen before its content: the address of the object is made of it. */
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { TextInput } from "../ui/field.tsx";

const pattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** Name of the page that asks for a name; a name that no object can have. */
export const newName = "+new";

export function NameField(props: {
  readonly what: string;
  readonly taken: readonly string[];
  readonly onName: (name: string) => void;
}) {
  const { what, taken, onName } = props;
  const [name, setName] = useState("");
  const navigate = useNavigate();
  const fault = faultOf(name, taken);
  return (
    <form
      className="form card"
      onSubmit={(event) => {
        event.preventDefault();
        if (name !== "" && fault === undefined) onName(name);
      }}
    >
      <div className="body stack">
        <TextInput
          label={`Name of the ${what}`}
          value={name}
          onChange={setName}
          fault={fault}
          hint="Letters, digits, dots, dashes and underscores. It can not be changed later."
          required
        />
        <span className="row">
          <Button submit kind="primary" disabled={name === "" || fault !== undefined}>
            Go on
          </Button>
          <Button kind="quiet" onClick={() => void navigate({ to: ".." })}>
            Leave
          </Button>
        </span>
      </div>
    </form>
  );
}

function faultOf(name: string, taken: readonly string[]): string | undefined {
  if (name === "") return undefined;
  if (taken.includes(name)) return "There is one of this name.";
  return pattern.test(name) ? undefined : "This is no such name.";
}
