/**
 * Who may import whom. Read with ARCHITECTURE.md; `npm run borders` checks it.
 *
 * A package that is not in the table may import nothing. The table also names packages that do not
 * exist yet, so that their first file already meets its border. The table of the rooms within packages stands
 * in test/tidy/rooms.mjs.
 */
import { rooms } from "./test/tidy/rooms.mjs";

const imports = {
  contract: { packages: [], npm: ["zod"] },
  wire: { packages: [], npm: [] },
  core: { packages: ["contract"], npm: [] },
  access: { packages: ["contract", "core"], npm: ["zod", "jose", "ldapts", "bcryptjs", "undici"] },
  sql: {
    packages: ["contract", "core"],
    npm: [
      "@polyglot-sql/sdk",
      "quickjs-emscripten-core",
      "@jitl/quickjs-singlefile-mjs-release-sync",
    ],
  },
  engines: {
    packages: ["contract", "core", "wire"],
    npm: ["zod", "apache-arrow", "mysql2", "undici", "koffi", "@duckdb/node-bindings"],
  },
  frontends: {
    packages: ["contract", "core", "wire"],
    npm: [
      "zod",
      "hono",
      "apache-arrow",
      "@grpc/grpc-js",
      "@bufbuild/protobuf",
      "@modelcontextprotocol/sdk",
      "@electric-sql/pglite",
    ],
  },
  control: {
    packages: ["contract", "core", "access", "engines"],
    npm: [
      "zod",
      "hono",
      "hono-openapi",
      "drizzle-orm",
      "pg",
      "@electric-sql/pglite",
      "@neondatabase/serverless",
      "ws",
    ],
  },
  gateway: {
    packages: ["contract", "core", "access", "sql", "engines", "frontends", "control"],
    npm: [
      "zod",
      "hono",
      "@hono/node-server",
      "sst",
      "yaml",
      "prom-client",
      "undici",
      "esbuild",
      "vite",
    ],
  },
  studio: {
    packages: ["contract", "control"],
    npm: [
      "react",
      "react-dom",
      "@types/react",
      "@types/react-dom",
      "@tanstack/react-query",
      "@tanstack/react-router",
      "@codemirror/[a-z-]+",
      "@lezer/highlight",
      "uplot",
    ],
  },
};

const inside = (...names) => `^packages/(${names.join("|")})/`;
const tests = "(\\.(test|suite)\\.tsx?|/rig/[^/]+\\.ts)$";
const npm = ["npm", "npm-dev", "npm-optional", "npm-peer", "npm-no-pkg", "npm-unknown"];
const rule = (name, from, to) => ({ name, severity: "error", from, to });

const perPackage = Object.entries(imports).flatMap(([name, may]) => [
  rule(
    `${name}: packages`,
    { path: inside(name), pathNot: tests },
    { path: "^packages/", pathNot: inside(name, ...may.packages) },
  ),
  rule(
    `${name}: npm`,
    { path: inside(name), pathNot: tests },
    {
      dependencyTypes: npm,
      pathNot: `node_modules/(${["@gateway", ...may.npm].join("|")})/`,
    },
  ),
]);

/** How paths of a room, or that of a file, go on. */
const beginOf = (name) => (name.endsWith(".ts") ? `${name.replace(".", "\\.")}$` : `${name}/`);

const perRoom = Object.entries(rooms).flatMap(([folder, { shared, ...plan }]) => [
  rule(
    `${folder}: a room outside the table`,
    {
      path: `^packages/${folder}/[^/]+/`,
      pathNot: [tests, `^packages/${folder}/(${Object.keys(plan).join("|")})/`],
    },
    {},
  ),
  ...Object.entries(plan).map(([room, may]) =>
    rule(
      `${folder}/${room}: rooms`,
      { path: `^packages/${folder}/${room}/`, pathNot: tests },
      {
        path: `^packages/${folder}/`,
        pathNot: [
          `^packages/${folder}/(${[room, ...may].map(beginOf).join("|")})`,
          `^packages/${folder}/(${shared.join("|")})\\.ts$`,
        ],
      },
    ),
  ),
]);

export default {
  forbidden: [
    ...perPackage,
    ...perRoom,
    rule(
      "a package outside the table",
      { path: "^packages/([^/]+)/", pathNot: inside(...Object.keys(imports)) },
      { pathNot: "^packages/$1/" },
    ),
    // The command imports the bundle, which a fresh checkout has not made yet.
    rule("every import resolves", {}, { couldNotResolve: true, pathNot: "/dist/gateway\\.js$" }),
    rule(
      "a package declares what it imports",
      { path: "^packages/", pathNot: tests },
      { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    ),
    // A cycle that is closed only by a type is none at run time.
    rule("no cycles", {}, { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } }),
    rule(
      "pure packages touch no node: module",
      { path: inside("contract", "wire", "core"), pathNot: tests },
      { dependencyTypes: ["core"] },
    ),
    rule(
      "config.ts is data",
      { path: "/config\\.ts$" },
      { path: "^packages/", pathNot: "^packages/contract/|/config\\.ts$" },
    ),
    rule(
      "adapters load lazily",
      { path: inside("control", "gateway", "engines", "frontends"), pathNot: tests },
      {
        path: "^packages/(engines|frontends)/src/[^/]+/(adapter|listen)\\.ts$",
        dynamic: false,
        dependencyTypesNot: ["type-only"],
      },
    ),
    // Except that `native` holds the binding to ADBC drivers, of which DuckDB is one, and `connect` the way out of the process.
    rule(
      "engines are strangers",
      { path: "^packages/engines/src/([^/]+)/", pathNot: `${tests}|^packages/engines/src/mysql/` },
      {
        path: "^packages/engines/src/[^/]+/",
        pathNot: "^packages/engines/src/($1|native|connect|duckDb/library)/",
      },
    ),
    // StarRocks is a server of MySQL's family, and what they share stands there.
    rule(
      "mysql knows starRocks alone",
      { path: "^packages/engines/src/mysql/", pathNot: tests },
      {
        path: "^packages/engines/src/[^/]+/",
        pathNot: "^packages/engines/src/(mysql|starRocks|connect)/",
      },
    ),
    // `listener` holds the sockets that all of them open, `arrow` rows in a form that several have, `rig` what their tests share.
    rule(
      "frontends are strangers",
      { path: "^packages/frontends/src/([^/]+)/", pathNot: "^packages/frontends/src/rig/" },
      {
        path: "^packages/frontends/src/[^/]+/",
        pathNot: "^packages/frontends/src/($1|listener|arrow|rig)/",
      },
    ),
    rule(
      "only one file of the functions knows sst",
      { pathNot: "^(packages/gateway/src/entry/linked\\.ts$|infra/|sst\\.config)" },
      { path: "node_modules/sst/" },
    ),
    rule(
      "Lambda reaches no frontend",
      { path: "entry/lambda\\.ts$" },
      { path: inside("frontends"), reachable: true },
    ),
    // What runs there would bring the servers' schemas into the browser.
    rule(
      "Studio takes types only from control and contract",
      { path: inside("studio"), pathNot: tests },
      { path: inside("control", "contract"), dependencyTypesNot: ["type-only"] },
    ),
    rule(
      "tables stay in the store",
      { path: "^packages/", pathNot: "^packages/control/src/store/" },
      { path: "\\.sql\\.ts$" },
    ),
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules/(?!@gateway)" },
    exclude: { path: "^packages/[^/]+/(dist/|vite\\.config\\.ts$)" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
      extensions: [".ts", ".tsx", ".mjs", ".js"],
    },
  },
};
