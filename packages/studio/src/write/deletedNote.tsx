/** Above an editor whose object is gone. */

export function DeletedNote({ deleted }: { readonly deleted: boolean }) {
  if (!deleted) return null;
  return (
    <div className="note warn" role="status">
      Somebody deleted it meanwhile. It is shown as it was; saving it makes it again.
    </div>
  );
}
