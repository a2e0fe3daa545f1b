/** Who may use this control plane, and who is logged in. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { cache } from "../api/cache.ts";
import { sessionsQuery, usersQuery } from "../api/queries.ts";
import type { AdminSession, User } from "../api/shapes.ts";
import { write } from "../api/writes.ts";
import { useMe } from "../shell/me.ts";
import { Badge, Tag } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/state.tsx";
import { PagedTable } from "../ui/table.tsx";
import { Ago, Time } from "../ui/time.tsx";
import { toast } from "../ui/toast.tsx";
import { UserDialog } from "./userDialog.tsx";

type Asked =
  | { readonly kind: "add" }
  | { readonly kind: "edit"; readonly user: User }
  | { readonly kind: "delete"; readonly user: User };

export function UsersPage() {
  const users = useQuery(usersQuery);
  const [asked, setAsked] = useState<Asked>();
  return (
    <>
      <PageHead
        title="Users"
        lead="Who may use this control plane. Clients that run queries are configured under Access."
        actions={
          <Button kind="primary" onClick={() => setAsked({ kind: "add" })}>
            Add a user
          </Button>
        }
      />
      <Loaded query={users}>
        {(items) => (
          <Card title="Users" flush>
            <Users items={items} onAsk={setAsked} />
          </Card>
        )}
      </Loaded>
      <Sessions />
      <Question asked={asked} onClose={() => setAsked(undefined)} />
    </>
  );
}

function Users(props: { readonly items: readonly User[]; readonly onAsk: (asked: Asked) => void }) {
  const { name: own } = useMe();
  return (
    <PagedTable
      caption="Users"
      rows={props.items}
      keyOf={({ name }) => name}
      columns={[
        {
          title: "User",
          cell: ({ name, disabled }) => (
            <span className="row">
              {name}
              {name === own ? <Tag>you</Tag> : null}
              {disabled ? <Badge tone="warn">disabled</Badge> : null}
            </span>
          ),
        },
        { title: "Role", cell: ({ role }) => role },
        { title: "Changed", cell: ({ updatedAt }) => <Ago at={updatedAt} /> },
        {
          title: "Actions",
          end: true,
          cell: (user) => (
            <>
              <Button small onClick={() => props.onAsk({ kind: "edit", user })}>
                Change<span className="hidden-text"> {user.name}</span>
              </Button>{" "}
              <Button small onClick={() => props.onAsk({ kind: "delete", user })}>
                Delete<span className="hidden-text"> {user.name}</span>
              </Button>
            </>
          ),
        },
      ]}
    />
  );
}

function Question(props: { readonly asked: Asked | undefined; readonly onClose: () => void }) {
  const { asked, onClose } = props;
  if (asked === undefined) return null;
  if (asked.kind !== "delete") {
    return <UserDialog user={asked.kind === "edit" ? asked.user : undefined} onClose={onClose} />;
  }
  const { name, version } = asked.user;
  return (
    <Confirm
      title={`Delete user ${name}?`}
      action="Delete user"
      danger
      act={async () => {
        await write("DELETE /users/:name", { names: [name], expected: version });
        await cache.invalidateQueries({ queryKey: usersQuery.queryKey });
        toast(`Deleted user ${name}.`);
      }}
      onClose={() => {
        void cache.invalidateQueries({ queryKey: usersQuery.queryKey });
        onClose();
      }}
    >
      <p>The user's sessions end at once.</p>
    </Confirm>
  );
}

function Sessions() {
  const sessions = useQuery(sessionsQuery);
  const [asked, setAsked] = useState<AdminSession>();
  return (
    <Loaded query={sessions}>
      {(items) => (
        <Card title="Sessions" flush>
          {items.length === 0 ? (
            <Empty title="Nobody is logged in" />
          ) : (
            <PagedTable
              caption="Sessions"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: "User",
                  cell: ({ user, own }) => (
                    <span className="row">
                      {user}
                      {own ? <Tag>this one</Tag> : null}
                    </span>
                  ),
                },
                { title: "From", cell: ({ address }) => address },
                { title: "Began", cell: ({ createdAt }) => <Time at={createdAt} /> },
                { title: "Seen", cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} /> },
                { title: "Ends", cell: ({ expiresAt }) => <Time at={expiresAt} /> },
                {
                  title: "Actions",
                  end: true,
                  cell: (session) => (
                    <Button small onClick={() => setAsked(session)}>
                      End<span className="hidden-text"> session of {session.user}</span>
                    </Button>
                  ),
                },
              ]}
            />
          )}
          {asked === undefined ? null : (
            <Confirm
              title={`End this session of ${asked.user}?`}
              action="End session"
              danger
              act={async () => {
                await write("DELETE /sessions/:id", { names: [asked.id] });
                await cache.invalidateQueries({ queryKey: sessionsQuery.queryKey });
                toast("The session has ended.");
              }}
              onClose={() => setAsked(undefined)}
            >
              <p>
                {asked.own
                  ? "It is your own: you will be asked to log in."
                  : "The user will be asked to log in."}
              </p>
            </Confirm>
          )}
        </Card>
      )}
    </Loaded>
  );
}
