/** Asks before a query is ended: its user gets an error. */
import { write } from "../api/writes.ts";
import { Confirm } from "../ui/confirm.tsx";
import { toast } from "../ui/toast.tsx";

interface Answer {
  readonly state: "requested" | "cancelled" | "finished" | "failed" | "denied";
}

export function CancelQuestion(props: { readonly id: string; readonly onClose: () => void }) {
  const { id, onClose } = props;
  return (
    <Confirm
      title="Cancel this query?"
      action="Cancel query"
      danger
      act={async () => {
        const { state } = await write<Answer>("POST /queries/:id/cancel", { names: [id] });
        toast(
          state === "requested"
            ? `Query ${id} is told to end.`
            : `Query ${id} has ended: ${state}.`,
        );
      }}
      onClose={onClose}
    >
      <p>
        Query <code>{id}</code> ends with an error for its user. Its place is free when the engine
        has ended it.
      </p>
    </Confirm>
  );
}
