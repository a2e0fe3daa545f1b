/** What a page shows instead of its content: that it comes, that there is none, or why it can not be had. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError, messageOf } from "../api/client.ts";
import { Button } from "./button.tsx";

export function Loading({ what = "Loading" }: { readonly what?: string }) {
  return (
    <div className="loading" role="status">
      {what} …
    </div>
  );
}

export function Empty(props: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  const { title, children, action } = props;
  return (
    <div className="empty">
      <h3>{title}</h3>
      {children === undefined ? null : <p>{children}</p>}
      {action === undefined ? null : <div className="row">{action}</div>}
    </div>
  );
}

/** An error in the API's words, with each fault's path. */
export function Failure(props: { readonly error: unknown; readonly retry?: () => void }) {
  const { error, retry } = props;
  const faults = error instanceof ApiError ? error.faults : [];
  return (
    <div className="note bad" role="alert">
      <div className="row apart">
        <span>{messageOf(error)}</span>
        {retry === undefined ? null : (
          <Button small onClick={retry}>
            Try again
          </Button>
        )}
      </div>
      {faults.length === 0 ? null : (
        <ul>
          {faults.map(({ path, reason }) => (
            <li key={`${path} ${reason}`}>
              {path === "" ? "" : <code>{path}</code>} {reason}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The content of a query, or what stands in its place. What was there before an error stays readable. */
export function Loaded<Data>(props: {
  readonly query: Pick<UseQueryResult<Data>, "error" | "refetch"> & {
    readonly data: Data | undefined;
  };
  readonly children: (data: Data) => ReactNode;
}) {
  const { query, children } = props;
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error === null) return <Loading />;
  return <Failure error={query.error} retry={() => void query.refetch()} />;
}
