/** The frame around every page: the way between pages, who is logged in, banners. */
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useId, useRef, useState } from "react";
import { followLive } from "../api/live.ts";
import { cache, forgetAll, meKey } from "../api/cache.ts";
import { write } from "../api/writes.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { Toasts } from "../ui/toast.tsx";
import { Banners } from "./banner.tsx";
import { useMe } from "./me.ts";
import { Nav } from "./nav.tsx";
import { setTheme, themes, useTheme, type Theme } from "../theme/theme.ts";

const themeTitles: Readonly<Record<Theme, string>> = {
  system: "System",
  light: "Light",
  dark: "Dark",
};

export function Shell() {
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => {
    const stopped = new AbortController();
    void followLive(stopped.signal);
    return () => stopped.abort();
  }, []);
  // A screen reader begins where the new page begins.
  const first = useRef(true);
  useEffect(() => {
    if (first.current) first.current = false;
    else main.current?.focus({ preventScroll: true });
  }, [path]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <aside className="side" aria-label="Studio">
        <Side onGo={() => undefined} />
      </aside>
      <div className="main">
        <Top />
        <Banners />
        <main id="main" ref={main} tabIndex={-1}>
          <Outlet />
        </main>
      </div>
      <Toasts />
    </div>
  );
}

function Brand() {
  return (
    <Link to="/" className="brand">
      <img src="/studio/icon.svg" alt="" />
      Studio
    </Link>
  );
}

function Side({ onGo }: { readonly onGo: () => void }) {
  return (
    <>
      <Brand />
      <Nav onGo={onGo} />
      <Foot />
    </>
  );
}

function Foot() {
  const { name, role } = useMe();
  const theme = useTheme();
  const id = useId();
  return (
    <div className="side-foot">
      <div className="who">
        <strong title={name}>{name}</strong>
        <span className="muted small">{role}</span>
      </div>
      <div className="row">
        <label className="hidden-text" htmlFor={id}>
          Colours
        </label>
        <select
          id={id}
          className="select narrow"
          value={theme}
          onChange={(event) => setTheme(event.target.value as Theme)}
        >
          {themes.map((each) => (
            <option key={each} value={each}>
              {themeTitles[each]}
            </option>
          ))}
        </select>
        <Button kind="quiet" small onClick={() => void logOut()}>
          Log out
        </Button>
      </div>
    </div>
  );
}

async function logOut(): Promise<void> {
  await write("POST /logout").catch(() => undefined);
  cache.setQueryData(meKey, null);
  forgetAll();
}

/** On a narrow screen the way between pages is a drawer. */
function Top() {
  const drawer = useRef<HTMLDialogElement>(null);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (open) drawer.current?.showModal();
    else drawer.current?.close();
  }, [open]);
  return (
    <div className="top">
      <Brand />
      <IconButton icon="menu" name="Pages" onClick={() => setOpen(true)} />
      <dialog ref={drawer} className="drawer" aria-label="Pages" onClose={() => setOpen(false)}>
        {open ? (
          <div className="side">
            <div className="row apart">
              <Brand />
              <IconButton icon="close" name="Close" onClick={() => setOpen(false)} />
            </div>
            <Nav onGo={() => setOpen(false)} />
            <Foot />
          </div>
        ) : null}
      </dialog>
    </div>
  );
}
