/** What every field of one form shares. */
import { createContext, useContext, type ComponentType } from "react";
import type { Json, Path } from "../tool/json.ts";
import type { Schema } from "./schema.ts";

export interface FieldOf {
  readonly schema: Schema;
  readonly path: Path;
  readonly name: string;
  /** Undefined: not set. */
  readonly value: Json | undefined;
  readonly required: boolean;
  readonly onChange: (value: Json | undefined) => void;
}

/** What a control is told, with its schema resolved and its texts at hand. */
export interface ControlOf extends FieldOf {
  readonly title: string;
  readonly fault: string | undefined;
}

export interface FormContextValue {
  /** One field by its schema. Objects, lists and unions draw their parts with it, and it draws them. */
  readonly Part: ComponentType<FieldOf>;
  /** The document that `$ref` points into. */
  readonly root: Schema;
  readonly readOnly: boolean;
  /** Reason by path as `faultPath` writes it, below the object. */
  readonly faults: ReadonlyMap<string, string>;
  /** Names that fit a field: clusters of a group, groups of a router. */
  readonly suggest: (schema: Schema, path: Path) => readonly string[] | undefined;
}

export const FormContext = createContext<FormContextValue>({
  Part: () => null,
  root: {},
  readOnly: true,
  faults: new Map(),
  suggest: () => undefined,
});

export function useForm(): FormContextValue {
  return useContext(FormContext);
}

/** `rules[0].regex`, as the API names a path. */
export function faultPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
}
