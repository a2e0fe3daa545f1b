/** Buttons. One that is busy stays where it is and can not be pressed twice. */
import type { ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";

export interface ButtonProps {
  readonly children: ReactNode;
  readonly onClick?: () => void;
  readonly kind?: "primary" | "danger" | "quiet" | undefined;
  readonly small?: boolean;
  readonly icon?: IconName;
  readonly disabled?: boolean | undefined;
  readonly busy?: boolean;
  readonly submit?: boolean;
  /** Why it is disabled, or what it does beyond its words. */
  readonly hint?: string | undefined;
}

export function Button(props: ButtonProps) {
  const { children, onClick, kind, small = false, icon, hint, submit = false } = props;
  const { disabled = false, busy = false } = props;
  return (
    <button
      type={submit ? "submit" : "button"}
      className={["button", kind, small ? "small" : ""].filter(Boolean).join(" ")}
      onClick={onClick}
      disabled={disabled || busy}
      aria-busy={busy}
      title={hint}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A drawing alone; its name is what a screen reader says. */
export function IconButton(props: {
  readonly icon: IconName;
  readonly name: string;
  readonly onClick: () => void;
  readonly small?: boolean;
  readonly disabled?: boolean;
}) {
  const { icon, name, onClick, small = false, disabled = false } = props;
  return (
    <button
      type="button"
      className={`button quiet icon${small ? " small" : ""}`}
      aria-label={name}
      title={name}
      onClick={onClick}
      disabled={disabled}
    >
      <Icon name={icon} />
    </button>
  );
}
