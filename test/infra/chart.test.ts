/** The chart, as far as it can be judged without helm: its values, its version, and the sidecar beside it. */
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parseConfig } from "@gateway/gateway/config/load.ts";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const schema = z
  .record(z.string(), z.unknown())
  .parse(JSON.parse(read("infra/helm/values.schema.json")));
const fits = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).compile(
  schema,
);
const defaults = parse(read("infra/helm/values.yaml")) as Values;
const everything = parse(read("infra/helm/examples/everything.yaml")) as Values;

interface Values {
  readonly [key: string]: unknown;
}

describe("values of the chart", () => {
  it("have by default a place for each secret, and want it filled", () => {
    expect(problemsOf(defaults)).toEqual([
      "/control/database/name",
      "/control/encryptionKey/name",
      "/fleetSecret/name",
      "/image/repository",
      "/tls/secretName",
    ]);
  });

  it("fit when every part is used", () => {
    expect(problemsOf(merged(defaults, everything))).toEqual([]);
  });

  it("are taken as the guide has them", () => {
    const [, shown = ""] =
      /^```yaml\n# values\.yaml\n(.*?)^```/ms.exec(read("docs/deploy.md")) ?? [];
    const values = parse(shown) as Values;
    expect(problemsOf(merged(defaults, values))).toEqual([]);
    const { control } = z
      .looseObject({ control: z.looseObject({ objects: z.looseObject({}) }) })
      .parse(values);
    const parsed = parseConfig(JSON.stringify(control.objects));
    expect(parsed.ok ? [] : parsed.error).toEqual([]);
  });

  it.each([
    [
      "/control/gateway/shutdownDrainTimeoutSecs",
      { control: { gateway: { shutdownDrainTimeoutSecs: 9_999 } } },
    ],
    [
      "/control/gateway/retention/historyDays",
      { control: { gateway: { retention: { historyDays: 0 } } } },
    ],
    ["/control/gateway", { control: { gateway: { role: "worker" } } }],
    ["/worker/replicas", { worker: { replicas: 0 } }],
    ["/worker/gateway", { worker: { gateway: { stateDir: "/elsewhere" } } }],
    [
      "/worker/frontends/postgresWire",
      { worker: { frontends: { postgresWire: { host: "127.0.0.1" } } } },
    ],
    [
      "/worker/frontends/postgresWire/port",
      { worker: { frontends: { postgresWire: { port: 70_000 } } } },
    ],
    ["/worker/storage/size", { worker: { storage: { size: "much" } } }],
    [
      "/worker/controlUrl",
      { control: { enabled: false }, worker: { controlUrl: "http://control" } },
    ],
    ["/image/digest", { image: { digest: "latest" } }],
    ["", { nonsense: true }],
  ])("are refused at %s", (path, change) => {
    expect(problemsOf(merged(merged(defaults, everything), change))).toContain(path);
  });

  it("take no secret in clear text", () => {
    const auth = { type: "basic", username: "gateway", password: "hunter2" };
    const objects = { clusters: { trino: { auth } } };
    const found = problemsOf(merged(merged(defaults, everything), { control: { objects } }));
    expect(found).toContain("/control/objects/clusters/trino/auth/password");
  });
});

describe("the chart", () => {
  it("has the version of the program", () => {
    const { version } = JSON.parse(read("package.json")) as { readonly version: string };
    const about = parse(read("infra/helm/Chart.yaml")) as Values;
    expect([about["version"], about["appVersion"]]).toEqual([version, version]);
  });
});

describe("the sidecar", () => {
  const manifests = parseAllDocuments(read("infra/helm/examples/sidecar.yaml")).map(
    (document) => document.toJS() as Values,
  );

  it("has a configuration that a gateway takes, with its listeners on loopback", () => {
    const { data } = z.looseObject({ data: z.record(z.string(), z.string()) }).parse(manifests[0]);
    const parsed = parseConfig(data["gateway.yaml"] ?? "");
    expect(parsed.ok ? [] : parsed.error).toEqual([]);
    const frontends = parsed.ok ? Object.values(parsed.value.gateway.frontends ?? {}) : [];
    const elsewhere = frontends.filter((frontend) => frontend?.host !== "127.0.0.1");
    expect([frontends.length, elsewhere]).toEqual([1, []]);
  });
});

function problemsOf(values: Values): readonly string[] {
  if (fits(values)) return [];
  const paths = (fits.errors ?? [])
    .filter(({ keyword }) => keyword !== "if")
    .map(({ instancePath }) => instancePath);
  return [...new Set(paths)].toSorted();
}

/** As Helm lays values over each other. */
function merged(under: Values, over: Values): Values {
  const both = Object.entries(over).map(([key, value]) => {
    const below = under[key];
    return [key, isMap(below) && isMap(value) ? merged(below, value) : value] as const;
  });
  return { ...under, ...Object.fromEntries(both) };
}

function isMap(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
