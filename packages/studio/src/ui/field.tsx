/** A label, a control, what it is for, and what is wrong with it, bound to each other for a screen reader. */
import { useId, type ReactNode } from "react";

export interface FieldProps {
  readonly label: string;
  readonly unit?: string | undefined;
  readonly hint?: ReactNode;
  readonly fault?: string | undefined;
  readonly required?: boolean;
  /** Where something else shows what it is: the list that the field is an entry of. */
  readonly bare?: boolean;
  readonly children: (control: ControlProps) => ReactNode;
}

/** What the control carries so that it is bound to its label. */
export interface ControlProps {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean | undefined;
}

export function Field({
  label,
  unit,
  hint,
  fault,
  required = false,
  bare = false,
  children,
}: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  const faultId = `${id}-fault`;
  const described = [hint === undefined ? "" : hintId, fault === undefined ? "" : faultId].filter(
    Boolean,
  );
  return (
    <div className="field">
      <label htmlFor={id} className={bare ? "hidden-text" : undefined}>
        {label}
        {required ? <span className="unit"> (required)</span> : null}
        {unit === undefined || says(label, unit) ? null : <span className="unit"> in {unit}</span>}
      </label>
      {children({
        id,
        "aria-describedby": described.length === 0 ? undefined : described.join(" "),
        "aria-invalid": fault === undefined ? undefined : true,
      })}
      {fault === undefined ? null : (
        <span className="fault" id={faultId}>
          {fault}
        </span>
      )}
      {hint === undefined ? null : (
        <span className="hint" id={hintId}>
          {hint}
        </span>
      )}
    </div>
  );
}

/** "Running queries in queries" says it twice. */
function says(label: string, unit: string): boolean {
  return label.toLowerCase().includes(unit.toLowerCase());
}

export function TextInput(props: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: "text" | "password" | "datetime-local" | "search";
  readonly hint?: ReactNode;
  readonly fault?: string | undefined;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly autoComplete?: string;
  /** Has the focus when its page appears. */
  readonly first?: boolean;
}) {
  const { label, value, onChange, type = "text", hint, fault, placeholder, required } = props;
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => (
        <input
          {...control}
          className="input"
          type={type}
          value={value}
          required={required}
          placeholder={placeholder}
          autoComplete={props.autoComplete ?? "off"}
          spellCheck={false}
          // Only where a page begins with typing into it.
          autoFocus={props.first === true}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

export interface Option {
  readonly value: string;
  readonly title: string;
  readonly disabled?: boolean;
}

export function Select(props: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChange: (value: string) => void;
  readonly hint?: ReactNode;
}) {
  const { label, value, options, onChange, hint } = props;
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <select
          {...control}
          className="select"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value} disabled={option.disabled}>
              {option.title}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
