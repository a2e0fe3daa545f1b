import { describe, expect, it } from "vitest";
import { parseConfig } from "./load.ts";
import { lineOf } from "@gateway/control/config/check/report.ts";
import { controlPlaneProblems } from "./worker.ts";

const reason = "belongs to the control plane; a worker receives it in the snapshot";

describe("controlPlaneProblems", () => {
  it("lists every key of a worker's file that the control plane owns, in one run", () => {
    const owned = {
      clusters: {},
      groups: {},
      clusterGroups: {},
      routers: [],
      routingFallback: "a",
      auth: {},
      authorization: {},
      catalogProvider: {},
      guardrails: {},
      accessControl: {},
      translation: {
        mode: "a",
        errorOnUnsupported: false,
        clusterGroups: [],
        scripts: [],
        pythonScripts: [],
      },
      scripts: {},
    };
    const gateway = { role: "worker", workerApi: {}, persistence: { type: "postgres" } };
    const problems = controlPlaneProblems({ ...owned, gateway }, []);
    expect(problems.map(({ path }) => path)).toEqual([
      "clusters",
      "groups",
      "clusterGroups",
      "routers",
      "routingFallback",
      "auth",
      "authorization",
      "catalogProvider",
      "guardrails",
      "accessControl",
      "translation.mode",
      "translation.errorOnUnsupported",
      "translation.clusterGroups",
      "translation.scripts",
      "scripts",
      "gateway.workerApi",
      "gateway.persistence",
    ]);
    expect(new Set(problems.map((problem) => problem.reason))).toEqual(new Set([reason]));
  });

  it("counts a key that is written without a value", () => {
    expect(controlPlaneProblems({ gateway: worker, clusters: null }, [])).toHaveLength(1);
  });

  it("allows a store in memory, and the settings of translation that stay local", () => {
    const input = {
      gateway: { ...worker, persistence: { type: "inMemory" } },
      translation: { pythonScripts: ["a.py"], schemaResolutionTimeoutMs: 5 },
    };
    expect(controlPlaneProblems(input, [])).toEqual([]);
  });

  it("takes no other setting of translation beside them", () => {
    const text = `
gateway:
  role: worker
  controlPlane: { url: "https://control:9000", auth: { sharedSecret: "${"s".repeat(32)}" } }
translation: { pythonScripts: [{ file: /etc/a.py, when: before, clusterGroups: [any] }]`;
    expect(parseConfig(`${text} }\n`).ok).toBe(true);
    expect(parseConfig(`${text}, schemaResolutionTimeoutMs: 5 }\n`).ok).toBe(true);
  });

  it("leaves out what is wrong inside of keys that must go anyway", () => {
    const inside = [
      { path: "clusters.a.engine", reason: "is missing" },
      { path: "routers[0].type", reason: "is missing" },
      { path: "clusters", reason: "must be a map of keys" },
    ];
    const beside = { path: "clustersOther", reason: "unknown key" };
    const input = { gateway: worker, clusters: {}, routers: [] };
    expect(controlPlaneProblems(input, [...inside, beside])).toEqual([
      { path: "clusters", reason },
      { path: "routers", reason },
      beside,
    ]);
  });

  it("leaves other roles alone", () => {
    const problems = [{ path: "clusters", reason: "is empty" }];
    expect(controlPlaneProblems({ clusters: null }, problems)).toBe(problems);
  });
});

describe("parseConfig", () => {
  it("refuses a worker's file with the list, beside what else is wrong with it", () => {
    const text = `
gateway: { role: worker, logLevel: loud }
clusters: { a: { engine: nothing } }
auth: { provider: none }
`;
    const loaded = parseConfig(text);
    expect(loaded.ok ? [] : loaded.error.map(lineOf)).toEqual([
      `clusters: ${reason}`,
      `auth: ${reason}`,
      "gateway.logLevel: must be one of debug, info, warn, error",
      "gateway.controlPlane: is missing: a worker gets its configuration there",
    ]);
  });
});

describe("a worker's file", () => {
  const file = (more: string) => `
gateway:
  role: worker
  controlPlane: { url: "https://control:9000", auth: { sharedSecret: "${"s".repeat(32)}" } }
  coordination: { mode: local }
${more}`;

  it("needs a control plane it reaches safely, and nothing else", () => {
    expect(linesOf(file(""))).toEqual([]);
    expect(linesOf(file("").replace("https:", "http:"))[0]).toContain("must be https");
    expect(
      linesOf(
        file("").replace("https:", "http:").replace("auth:", "allowInsecureHttp: true, auth:"),
      ),
    ).toEqual([]);
  });

  it("needs a folder for what it is to keep", () => {
    expect(linesOf(file("  lastGood: { enabled: true }"))).toEqual([
      "gateway.stateDir: is missing: lastGood keeps the configuration there",
    ]);
    expect(linesOf(file("  history: { spool: disk }"))).toEqual([
      "gateway.stateDir: is missing: history.spool keeps records there",
    ]);
    expect(linesOf(file("  history: { spool: disk }\n  stateDir: /state"))).toEqual([]);
  });

  it("refuses what only a control plane may say, also where nothing else is wrong", () => {
    expect(linesOf(file("  retention: {}\nclusters: {}"))).toEqual([
      `clusters: ${reason}`,
      `gateway.retention: ${reason}`,
    ]);
  });

  it("is the only one that may have a worker's keys", () => {
    expect(linesOf("gateway: { workerName: a, stateDir: /state }")).toEqual([
      "gateway.workerName: is for role worker",
      "gateway.stateDir: is for role worker, or for a database server",
    ]);
  });

  it("lets an owner on a database server have a state folder", () => {
    const persistence =
      "{ type: postgres, url: postgresql://h/d, encryptionKey: 0123456789abcdef }";
    expect(linesOf(`gateway: { stateDir: /state, persistence: ${persistence} }`)).toEqual([]);
  });
});

function linesOf(text: string): readonly string[] {
  const loaded = parseConfig(text);
  return loaded.ok ? [] : loaded.error.map(lineOf);
}

const worker = { role: "worker" };
