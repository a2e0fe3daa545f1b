/** A dialog of the browser's own: it holds the focus, ends with Escape, and hides the page from screen readers. */
import { useEffect, useId, useRef, type ReactNode } from "react";
import { IconButton } from "./button.tsx";

export interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Buttons at its foot. */
  readonly foot?: ReactNode;
  readonly wide?: boolean;
  readonly onClose: () => void;
}

export function Dialog({ title, children, foot, wide = false, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={wide ? "wide" : ""}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <IconButton icon="close" name="Close" onClick={onClose} />
      </div>
      <div className="dialog-body">{children}</div>
      {foot === undefined ? null : <div className="dialog-foot">{foot}</div>}
    </dialog>
  );
}
