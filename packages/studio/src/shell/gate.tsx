/**
 * Before every page: log in, or make the first administrator. The page's address stays what it is meanwhile, so
 * whoever logs in is where they wanted to be.
 */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { cache, forgetAll, meKey } from "../api/cache.ts";
import { signOnQuery } from "../api/consoleQueries.ts";
import { meQuery } from "../api/queries.ts";
import type { Me } from "../api/shapes.ts";
import { write } from "../api/writes.ts";
import { Button } from "../ui/button.tsx";
import { TextInput } from "../ui/field.tsx";
import { Failure, Loading } from "../ui/state.tsx";
import { MeContext } from "./me.ts";
import { refusalOf } from "./refusal.ts";

export function Gate({ children }: { readonly children: ReactNode }) {
  const me = useQuery(meQuery);
  if (me.data !== undefined && me.data !== null) {
    return <MeContext value={me.data}>{children}</MeContext>;
  }
  if (me.data === null) return <SignOn />;
  return (
    <GateCard title="Studio">
      {me.error === null ? (
        <Loading />
      ) : (
        <Failure error={me.error} retry={() => void me.refetch()} />
      )}
    </GateCard>
  );
}

function GateCard({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <main className="gate">
      <div className="gate-card">
        <span className="brand">
          <img src="/studio/icon.svg" alt="" />
          Studio
        </span>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}

function SignOn() {
  const signOn = useQuery(signOnQuery);
  const [made, setMade] = useState<string>();
  if (signOn.data === undefined) {
    return (
      <GateCard title="Studio">
        {signOn.error === null ? (
          <Loading />
        ) : (
          <Failure error={signOn.error} retry={() => void signOn.refetch()} />
        )}
      </GateCard>
    );
  }
  if (signOn.data.setupNeeded && made === undefined) return <SetUp onMade={setMade} />;
  return <LogIn name={made ?? ""} oidc={signOn.data.oidc?.title} />;
}

function LogIn({
  name: known,
  oidc,
}: {
  readonly name: string;
  readonly oidc: string | undefined;
}) {
  const [name, setName] = useState(known);
  const [password, setPassword] = useState("");
  const login = useMutation({
    mutationFn: () => write<Me>("POST /login", { body: { name, password } }),
    onSuccess: (me) => begin(me),
  });
  const refused = refusalOf(new URLSearchParams(location.search).get("signOn"));
  return (
    <GateCard title="Log in">
      {refused === undefined || login.error !== null ? null : (
        <div className="note warn" role="alert">
          {refused}
        </div>
      )}
      {login.error === null ? null : <Failure error={login.error} />}
      {oidc === undefined ? null : (
        <a className="button primary" href={oidcPath()}>
          Log in with {oidc}
        </a>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          login.mutate();
        }}
      >
        <TextInput
          label="User"
          value={name}
          onChange={setName}
          autoComplete="username"
          required
          first
        />
        <TextInput
          label="Password"
          type="password"
          value={password}
          onChange={setPassword}
          autoComplete="current-password"
          required
        />
        <Button submit kind={oidc === undefined ? "primary" : undefined} busy={login.isPending}>
          Log in
        </Button>
      </form>
    </GateCard>
  );
}

/** Everything that another user may have left is forgotten first. */
function begin(me: Me): void {
  forgetAll();
  cache.setQueryData(meKey, me);
}

function oidcPath(): string {
  const address = new URL(location.href);
  address.searchParams.delete("signOn");
  const returnTo = `${address.pathname}${address.search}`;
  return `/admin/sign-on/oidc?${new URLSearchParams({ returnTo }).toString()}`;
}

function SetUp({ onMade }: { readonly onMade: (name: string) => void }) {
  const [token, setToken] = useState("");
  const [name, setName] = useState("admin");
  const [password, setPassword] = useState("");
  const setup = useMutation({
    mutationFn: async () => {
      await write("POST /setup", { body: { token, name, password } });
      return write<Me>("POST /login", { body: { name, password } });
    },
    onSuccess: (me) => begin(me),
    onError: () => void cache.invalidateQueries({ queryKey: signOnQuery.queryKey }),
  });
  const submit = (): void => setup.mutate(undefined, { onError: () => undefined });
  return (
    <GateCard title="Make the first administrator">
      <p className="muted">
        The gateway printed a one-time set-up token when it started. There is no default password.
      </p>
      {setup.error === null ? null : <Failure error={setup.error} />}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextInput label="Set-up token" value={token} onChange={setToken} required first />
        <TextInput label="User" value={name} onChange={setName} autoComplete="username" required />
        <TextInput
          label="Password"
          type="password"
          value={password}
          onChange={setPassword}
          autoComplete="new-password"
          hint="12 characters to 72 bytes."
          required
        />
        <Button submit kind="primary" busy={setup.isPending}>
          Make and log in
        </Button>
        <Button kind="quiet" onClick={() => onMade("")}>
          Log in instead
        </Button>
      </form>
    </GateCard>
  );
}
