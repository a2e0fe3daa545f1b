/** A question before what can not be taken back. It shows the refusal where the write is refused, and stays open. */
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Failure } from "./state.tsx";

export interface ConfirmProps {
  readonly title: string;
  readonly children: ReactNode;
  /** The deed, as a verb. */
  readonly action: string;
  readonly danger?: boolean;
  readonly act: () => Promise<unknown>;
  /** Told whether it was done. */
  readonly onClose: (done: boolean) => void;
}

export function Confirm({ title, children, action, danger = false, act, onClose }: ConfirmProps) {
  const deed = useMutation({ mutationFn: act, onSuccess: () => onClose(true) });
  return (
    <Dialog
      title={title}
      onClose={() => onClose(false)}
      foot={
        <>
          <Button onClick={() => onClose(false)}>Keep as it is</Button>
          <Button
            kind={danger ? "danger" : "primary"}
            busy={deed.isPending}
            onClick={() => deed.mutate()}
          >
            {action}
          </Button>
        </>
      }
    >
      <div>{children}</div>
      {deed.error === null ? null : <Failure error={deed.error} />}
    </Dialog>
  );
}
