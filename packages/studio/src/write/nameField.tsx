/** A new object's name beside its content: the address of the object is made of it, so it can not change later. */
import { useState, type ReactNode } from "react";
import { TextInput } from "../ui/field.tsx";

const pattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** Name of the page that makes one; a name that no object can have. */
export const newName = "+new";

/** What an editor of something new has to know. */
export interface Creation {
  /** Words of the button: `Create cluster`. */
  readonly action: string;
  /** Why it can not be made yet; undefined when it can. */
  readonly missing: string | undefined;
}

export interface Naming {
  readonly name: string;
  readonly creation: Creation;
  readonly field: ReactNode;
}

export function useNaming(what: string, taken: readonly string[]): Naming {
  const [name, setName] = useState("");
  const fault = faultOf(name, taken);
  return {
    name,
    creation: {
      action: `Create ${what}`,
      missing: name === "" ? "It has no name yet." : fault,
    },
    field: (
      <TextInput
        label={`Name of the ${what}`}
        value={name}
        onChange={setName}
        fault={fault}
        hint="Letters, digits, dots, dashes and underscores. It can not be changed later."
        required
        first
      />
    ),
  };
}

function faultOf(name: string, taken: readonly string[]): string | undefined {
  if (name === "") return undefined;
  if (taken.includes(name)) return "There is one of this name.";
  return pattern.test(name) ? undefined : "This is no such name.";
}
