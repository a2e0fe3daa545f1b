/** Every address of Studio and the page that it shows. Pages load when they are first gone to. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Link,
} from "@tanstack/react-router";
import { Gate } from "./shell/gate.tsx";
import { Shell } from "./shell/shell.tsx";
import { cleanSearch } from "./shell/search.ts";
import { Button } from "./ui/button.tsx";
import { PageHead } from "./ui/page.tsx";
import { Empty, Failure, Loading } from "./ui/state.tsx";

const root = createRootRoute({
  component: () => (
    <Gate>
      <Shell />
    </Gate>
  ),
  notFoundComponent: NotFound,
  errorComponent: ({ error }) => <Broken error={error} />,
});

/** Parameters of the address that are not texts are dropped: anybody may write them. */
const search = { validateSearch: cleanSearch } as const;

const pages = [
  createRoute({
    getParentRoute: () => root,
    path: "/",
    ...search,
    component: lazyRouteComponent(() => import("./overview/overviewPage.tsx"), "OverviewPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/queries",
    ...search,
    component: lazyRouteComponent(() => import("./queries/queriesPage.tsx"), "QueriesPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/queries/history",
    ...search,
    component: lazyRouteComponent(() => import("./queries/historyPage.tsx"), "HistoryPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/queries/$id",
    component: lazyRouteComponent(() => import("./queries/queryPage.tsx"), "QueryPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/workers",
    ...search,
    component: lazyRouteComponent(() => import("./workers/workersPage.tsx"), "WorkersPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/workers/$instanceId",
    component: lazyRouteComponent(() => import("./workers/workerPage.tsx"), "WorkerPage"),
  }),
];

const configuration = [
  createRoute({
    getParentRoute: () => root,
    path: "/clusters",
    component: lazyRouteComponent(() => import("./clusters/clustersPage.tsx"), "ClustersPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/clusters/$name",
    component: lazyRouteComponent(() => import("./clusters/clusterPage.tsx"), "ClusterPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/groups",
    component: lazyRouteComponent(() => import("./groups/groupsPage.tsx"), "GroupsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/groups/$name",
    component: lazyRouteComponent(() => import("./groups/groupPage.tsx"), "GroupPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/routing",
    ...search,
    component: lazyRouteComponent(() => import("./routing/routingPage.tsx"), "RoutingPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/access",
    component: lazyRouteComponent(() => import("./access/accessPage.tsx"), "AccessPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/scripts",
    component: lazyRouteComponent(() => import("./scripts/scriptsPage.tsx"), "ScriptsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/scripts/$name",
    component: lazyRouteComponent(() => import("./scripts/scriptPage.tsx"), "ScriptPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings",
    component: lazyRouteComponent(() => import("./settings/settingsPage.tsx"), "SettingsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/$name",
    component: lazyRouteComponent(() => import("./settings/settingPage.tsx"), "SettingPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/revisions",
    component: lazyRouteComponent(() => import("./revisions/revisionsPage.tsx"), "RevisionsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/revisions/$position",
    component: lazyRouteComponent(() => import("./revisions/revisionPage.tsx"), "RevisionPage"),
  }),
];

const others = [
  createRoute({
    getParentRoute: () => root,
    path: "/console",
    ...search,
    component: lazyRouteComponent(() => import("./console/consolePage.tsx"), "ConsolePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/users",
    component: lazyRouteComponent(() => import("./users/usersPage.tsx"), "UsersPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/audit",
    ...search,
    component: lazyRouteComponent(() => import("./audit/auditPage.tsx"), "AuditPage"),
  }),
];

export const router = createRouter({
  routeTree: root.addChildren([...pages, ...configuration, ...others]),
  basepath: "/studio",
  defaultPreload: "intent",
  defaultPendingComponent: () => <Loading />,
  defaultErrorComponent: ({ error }) => <Broken error={error} />,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

function NotFound() {
  return (
    <>
      <PageHead title="There is no such page" />
      <Empty title="Nothing is here" action={<Link to="/">Go to the overview</Link>}>
        The address may be of a newer or an older Studio.
      </Empty>
    </>
  );
}

/** Also where a page's file is gone, because another release is served by now. */
function Broken({ error }: { readonly error: unknown }) {
  return (
    <>
      <PageHead title="This page broke" />
      <Failure error={error} />
      <div className="row">
        <Button onClick={() => location.reload()}>Load it again</Button>
      </div>
    </>
  );
}
