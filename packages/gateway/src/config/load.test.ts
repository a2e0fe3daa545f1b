import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { checkConfig, loadConfig, loadDocument, parseConfig } from "./load.ts";
import { lineOf } from "@gateway/control/config/check/report.ts";

const folder = mkdtempSync(join(tmpdir(), "gateway-load-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("loadConfig", () => {
  it("reads a file", () => {
    const file = join(folder, "good.yaml");
    writeFileSync(file, "gateway: { logLevel: warn }\n");
    const loaded = loadConfig(file);
    expect(loaded.ok && loaded.value.gateway.logLevel).toBe("warn");
  });

  it("names a file that is not there", () => {
    const file = join(folder, "gone.yaml");
    expect(loadConfig(file)).toEqual({
      ok: false,
      error: [{ path: "", reason: `${file}: can not be read (ENOENT)` }],
    });
  });

  it("names a folder that is no file", () => {
    const loaded = loadDocument(folder);
    expect(loaded.ok ? [] : loaded.error.map(lineOf)).toEqual([
      `${folder}: can not be read (EISDIR)`,
    ]);
  });

  it("refuses a file that is too large to be a config", () => {
    const file = join(folder, "large.yaml");
    writeFileSync(file, "# padding\n".repeat(1_000_000));
    const loaded = loadConfig(file);
    expect(loaded.ok ? [] : loaded.error.map(lineOf)).toEqual([
      `${file}: is larger than ${8 * 1024 * 1024} bytes`,
    ]);
  });
});

describe("parseConfig", () => {
  it("fills in what an empty file leaves out", () => {
    const loaded = parseConfig("");
    expect(loaded.ok && loaded.value.gateway).toMatchObject({
      role: "standalone",
      frontends: {},
      adminApi: { enabled: true, host: "127.0.0.1", port: 9000 },
      shutdownDrainTimeoutSecs: 30,
    });
  });

  it("takes a whole config", () => {
    expect(linesFor(whole)).toEqual([]);
  });

  it("refuses a file that is no map", () => {
    expect(linesFor("- a\n")).toEqual(["must be a map of keys, not a list"]);
    expect(linesFor("just text\n")).toEqual(["must be a map of keys, not text"]);
  });

  it("refuses a limit of scanned bytes over an engine that can not estimate them", () => {
    const text = `
clusters:
  a: { engine: duckDb }
clusterGroups:
  g: { members: [a], maxRunningQueries: 1 }
guardrails:
  guards:
    - { name: a, type: maxScanBytes, maxBytes: 1 }
`;
    expect(linesFor(text)).toEqual([
      "guardrails.guards[0].type: the group g has the cluster a of the engine duckDb, which does not say before a statement runs how many bytes it would read",
    ]);
  });

  it("takes Python scripts of this process, and names what is wrong with one", () => {
    const parts = `
clusters:
  a: { engine: duckDb }
clusterGroups:
  g: { members: [a], maxRunningQueries: 1 }
  h: { members: [a], maxRunningQueries: 1 }
auth: { provider: static, staticUsers: { users: { u: { passwordHash: "${hash}" } } } }
accessControl: { clusterGroups: [h], provider: rules, rules: [{ name: all, tables: ["*.*"] }] }
`;
    const of = (one: string) => linesFor(`${parts}translation: { pythonScripts: [${one}] }\n`);
    expect(of("{ file: /etc/a.py, when: before, clusterGroups: [g] }")).toEqual([]);
    expect(of("{ file: a.py, when: before, clusterGroups: [g] }")).toEqual([
      "translation.pythonScripts[0].file: must be an absolute path",
    ]);
    expect(of("{ file: /a.py, when: after, clusterGroups: [x] }")).toEqual([
      'translation.pythonScripts[0].clusterGroups[0]: there is no cluster group "x"',
    ]);
    expect(of("{ file: /a.py, when: after }")).toEqual([
      "translation.pythonScripts[0]: would change statements that accessControl judged, of h",
    ]);
  });

  it("refuses a SCRAM verifier that is none, without repeating it", () => {
    const user = `{ passwordHash: "${hash}", scramVerifier: hunter2 }`;
    expect(linesFor(`auth: { provider: static, staticUsers: { users: { u: ${user} } } }`)).toEqual([
      "auth.staticUsers.users.u.scramVerifier: must be a SCRAM-SHA-256 verifier; make one with `gateway hash-password --scram`",
    ]);
  });

  it("names the field of a provider of identities or of groups that is wrong", () => {
    expect(
      linesFor("auth: { provider: oidc, oidc: { issuer: 'https://id.example.com' } }"),
    ).toEqual(["auth.oidc.audience: is missing; must be text"]);
    const ldap = "{ url: 'ldap://directory.example.com', userSearchBase: 'dc=example' }";
    expect(linesFor(`auth: { provider: ldap, ldap: ${ldap} }`)).toEqual([
      "auth.ldap.url: passwords would travel in clear; use ldaps, startTls or say allowCleartext",
    ]);
    const openfga = "{ url: 'ftp://x', storeId: s }";
    expect(
      linesFor(
        `auth: { provider: none }\nauthorization: { provider: openfga, openfga: ${openfga} }`,
      ),
    ).toEqual(["authorization.openfga.url: must be an http or https URL"]);
  });

  it("refuses a password in plain text without repeating it", () => {
    const lines = linesFor(
      "auth: { provider: static, staticUsers: { users: { u: { passwordHash: hunter2 } } } }",
    );
    expect(lines).toEqual([
      "auth.staticUsers.users.u.passwordHash: must be a bcrypt hash; make one with `gateway hash-password`",
    ]);
  });

  it("takes a reference in place of a password hash", () => {
    const users = "{ u: { passwordHash: { secretRef: 'env:HASH' } } }";
    expect(linesFor(`auth: { provider: static, staticUsers: { users: ${users} } }`)).toEqual([]);
  });

  it("refuses provider none that is required", () => {
    expect(linesFor("auth: { provider: none, required: true }")).toEqual([
      "auth.required: provider none verifies nobody, so it can not be required",
    ]);
  });

  it("keeps the name anonymous for those who show no credential", () => {
    const users = `{ anonymous: { passwordHash: "${hash}" } }`;
    expect(linesFor(`auth: { provider: static, staticUsers: { users: ${users} } }`)).toEqual([
      "auth.staticUsers.users.anonymous: the name anonymous is a reserved name",
    ]);
  });

  it("finds unknown keys at every depth, with the nearest known one", () => {
    const text = `
gatway: {}
gateway:
  logLevl: warn
  frontends: { postgresWire: { host: 127.0.0.1, tsl: {} } }
clusters:
  a: { engine: duckDb, queryAuth: { type: serviceAccount, typ: x } }
clusterGroups:
  g: { members: [a], maxRunningQueries: 1, strategy: { type: weighted, weigths: {}, weights: {} } }
routers:
  - type: compound
    combine: all
    targetGroup: g
    conditions: [{ type: compound, combine: any, conditions: [{ type: tags, tags: { a: b }, tag: {} }] }]
auth: { provider: none, operatorGroup: [] }
`;
    expect(linesFor(text)).toEqual([
      "gateway.frontends.postgresWire.tsl: unknown key; did you mean tls?",
      "gateway.logLevl: unknown key; did you mean logLevel?",
      "clusters.a.queryAuth.typ: unknown key; did you mean type?",
      "clusterGroups.g.strategy.weigths: unknown key; did you mean weights?",
      "routers[0].conditions[0].conditions[0].tag: unknown key; did you mean tags?",
      "auth.operatorGroup: unknown key; did you mean operatorGroups?",
      "gatway: unknown key; did you mean gateway?",
    ]);
  });

  it("lists what is wrong with the shape and with the meaning in one run", () => {
    const text = `
gateway:
  logLevel: loud
  frontends: { mysqlWire: { port: 3306 } }
clusters:
  a: { engine: duckDb, maxRunningQueries: many }
  b: { engine: trino }
clusterGroups:
  g: { members: [a, b, gone], maxRunningQueries: 0 }
  h: { maxRunningQueries: 1 }
routers:
  - { type: queryRegex, rules: [{ regex: "(", targetGroup: h }, { regex: a }] }
  - { type: tags, rules: [{ tags: { a: b }, targetGroup: nowhere }] }
routingFallback: nowhere
`;
    expect(linesFor(text)).toEqual([
      "gateway.logLevel: must be one of debug, info, warn, error",
      "clusters.a.maxRunningQueries: must be a number, not text",
      "clusters.b.endpoint: is missing; must be text",
      "clusterGroups.g.maxRunningQueries: must be at least 1",
      "clusterGroups.h.members: is missing; must be a list",
      "routers[0].rules[1].targetGroup: required unless action is deny",
      expect.stringMatching(/^clusterGroups\.g\.members\[2\]: there is no cluster "gone"/),
      expect.stringMatching(/^routers\[0\]\.rules\[0\]\.regex: /),
      expect.stringMatching(/^routers\[1\]\.rules\[0\]\.targetGroup: .*"nowhere"/),
      expect.stringMatching(/^routingFallback: .*"nowhere"/),
      "auth: must be written because gateway.frontends.mysqlWire listens on 0.0.0.0; provider none verifies nobody",
    ]);
  });

  it("blames nothing on a part that is only broken somewhere else", () => {
    const text = `
gateway:
  frontends: { postgresWire: { host: 10.0.0.1 } }
clusters: { "bad name": { engine: duckDb }, b: { engine: duckdb } }
clusterGroups:
  g: { members: ["bad name", b], maxRunningQueries: 1, authorization: { allowUsers: [u] } }
auth: { provider: statik }
`;
    expect(linesFor(text)).toEqual([
      'clusters."bad name": the name must be letters, digits, dots, dashes or underscores',
      "clusters.b.engine: must be one of adbc, clickHouse, duckDb, mysql, postgresql, starRocks, trino; did you mean duckDb?",
      "auth.provider: must be one of none, static, oidc, ldap; did you mean static?",
    ]);
  });
});

describe("checkConfig", () => {
  it("answers every document with a config or with problems", () => {
    const anything = fc.property(documents, (document) => {
      const checked = checkConfig(document);
      const lines = checked.ok ? ["valid"] : checked.error.map(lineOf);
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.filter((line) => line === "" || line.includes("\n"))).toEqual([]);
    });
    fc.assert(anything, { numRuns: 300 });
  });

  it("survives an engine that can not be turned into text", () => {
    const engine: unknown = Object.create(null);
    expect(checkConfig({ clusters: { main: { engine } } }).ok).toBe(false);
  });

  it("finds no fewer problems when one more part is broken", () => {
    const wellKnown = parseConfig(`${whole}\nroutingFallback: nowhere\n`);
    const withSlip = parseConfig(`${whole}\nroutingFallback: nowhere\nslip: 1\n`);
    const before = wellKnown.ok ? [] : wellKnown.error.map(lineOf);
    expect(before).toHaveLength(1);
    expect(withSlip.ok ? [] : withSlip.error.map(lineOf)).toEqual(expect.arrayContaining(before));
  });
});

const hash = `$2b$10$${"a".repeat(53)}`;

const whole = `
gateway:
  frontends:
    trinoHttp: { host: 127.0.0.1 }
    postgresWire: { host: 0.0.0.0, tls: { certFile: a.pem, keyFile: b.pem } }
    mysqlWire: { enabled: false }
  adminApi: { port: 0 }
clusters:
  duck: { engine: duckDb }
clusterGroups:
  main: { members: [duck], maxRunningQueries: 4, authorization: { allowUsers: [ann] } }
routers:
  - { type: protocolBased, protocols: { trinoHttp: main } }
  - { type: queryRegex, rules: [{ regex: "^drop", action: deny, error: "no" }] }
auth:
  provider: static
  staticUsers: { users: { ann: { passwordHash: "${hash}" } } }
`;

const keys = fc.constantFrom(
  "gateway",
  "clusters",
  "clusterGroups",
  "routers",
  "auth",
  "frontends",
  "postgresWire",
  "engine",
  "type",
  "members",
  "conditions",
  "rules",
  "regex",
  "toString",
);
const words = fc.constantFrom("duckDb", "trino", "static", "compound", "queryRegex", "worker", "(");

const { documents } = fc.letrec((tie) => ({
  documents: fc.dictionary(keys, tie("value"), { maxKeys: 6 }),
  value: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    words,
    fc.jsonValue({ maxDepth: 1 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(keys, tie("value"), { maxKeys: 4 }),
  ),
}));

function linesFor(text: string): readonly string[] {
  const loaded = parseConfig(text);
  return loaded.ok ? [] : loaded.error.map(lineOf);
}
