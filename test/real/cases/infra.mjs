/** What lies in `infra` and `.github`, judged by the programs that it is for: helm, promtool and actionlint. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { kubernetesSchemas, kubernetesVersion } from "../../infra/kubernetes.mjs";
import { actionlint, helms, promtool } from "../../infra/tools.mjs";
import { command, expectCode, expectMatch, expectText } from "../command.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const chart = join(root, "infra/helm");
const everything = join(chart, "examples/everything.yaml");
const least = {
  image: { repository: "registry.example/query-gateway" },
  fleetSecret: { name: "gateway" },
  tls: { secretName: "gateway-tls" },
  control: { database: { name: "gateway" }, encryptionKey: { name: "gateway" } },
};

export const workflowCases = {
  tool: "actionlint",
  cases: {
    "finds nothing in the workflows": async () => {
      const result = await command(actionlint, ["-no-color"], { cwd: root });
      expectCode(result);
      expectText(result.stdout, "");
    },
    "finds what is wrong in one": async () => {
      const text =
        "on: push\njobs: { a: { runs-on: ubuntu-latest, steps: [{ run: 'echo ${{ github.foo }}' }] } }\n";
      const result = await command(actionlint, ["-no-color", "-"], { cwd: root, input: text });
      expectCode(result, 1);
      expectMatch(result.stdout, /property "foo" is not defined/);
    },
  },
};

export const alertCases = {
  tool: "promtool",
  cases: {
    "understands the alert rules": async () => {
      expectCode(
        await command(promtool, ["check", "rules", join(root, "infra/monitoring/alerts.yaml")]),
      );
    },
    "sees each of them fire over recorded series, and no other": async () => {
      const tests = join(root, "infra/monitoring/alerts.test.yaml");
      expectMatch(expectCode(await command(promtool, ["test", "rules", tests])).stdout, /SUCCESS/);
    },
  },
};

export const chartCases = {
  tool: "helm",
  cases: {
    "finds nothing in the chart": async () => {
      const args = [
        "lint",
        "--strict",
        chart,
        "--kube-version",
        kubernetesVersion,
        "-f",
        everything,
      ];
      for (const helm of helms()) {
        const { stdout } = expectCode(await command(helm, args));
        expectMatch(stdout, /1 chart\(s\) linted, 0 chart\(s\) failed/);
      }
    },
    "renders manifests that Kubernetes knows, with as little as may be said and with all of it":
      async () => {
        const problemsOf = await kubernetesSchemas();
        const strange = { apiVersion: "v1", kind: "Service", metadata: { name: "a", labls: {} } };
        if (problemsOf(strange).length === 0) throw new Error("a field that is none was not seen");
        const small = await rendered(least);
        const whole = await rendered(undefined);
        const sidecar = parsed(readFileSync(join(chart, "examples/sidecar.yaml"), "utf8"));
        const problems = [...small, ...whole, ...sidecar].flatMap(problemsOf);
        expectText(problems.join("\n"), "");
        expectText(
          kindsOf(small),
          "ConfigMap 2, Deployment 1, NetworkPolicy 2, PodDisruptionBudget 2, Service 3, ServiceAccount 1, StatefulSet 1",
        );
        expectText(
          kindsOf(whole),
          "ConfigMap 3, Deployment 1, HorizontalPodAutoscaler 1, NetworkPolicy 2, PodDisruptionBudget 2, PrometheusRule 1, Service 3, ServiceAccount 1, ServiceMonitor 2, StatefulSet 1",
        );
      },
    "keeps workers at the version before while control planes go first": async () => {
      const worker = { image: { tag: "0.0.9" } };
      const images = podsOf(await rendered({ ...least, worker })).map(
        ({ containers }) => containers[0].image,
      );
      expectText(
        images.join(),
        "registry.example/query-gateway:0.1.0,registry.example/query-gateway:0.0.9",
      );
    },
    "gives pods no rights and nothing to write on but their state": async () => {
      for (const values of [least, undefined]) {
        for (const pod of podsOf(await rendered(values))) closedIn(pod);
      }
    },
    "gives each gateway a configuration that it takes": async () => {
      const folder = mkdtempSync(join(tmpdir(), "gateway-chart-"));
      try {
        for (const { kind, metadata, data } of await rendered(undefined)) {
          if (kind !== "ConfigMap" || data["gateway.yaml"] === undefined) continue;
          const file = join(folder, `${metadata.name}.yaml`);
          writeFileSync(file, data["gateway.yaml"]);
          const program = join(root, "packages/gateway/bin/gateway.mjs");
          expectCode(await command(process.execPath, [program, "validate", "--config", file]));
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
    "holds no secret, and lets nobody but peers to the port of peers": async () => {
      const all = await rendered(undefined);
      expectText(
        all
          .filter(({ kind }) => kind === "Secret")
          .map(({ metadata }) => metadata.name)
          .join(),
        "",
      );
      const policy = all.find(
        ({ kind, metadata }) => kind === "NetworkPolicy" && metadata.name.endsWith("worker"),
      );
      const toRelay = policy.spec.ingress.filter(({ ports }) =>
        ports.some(({ port }) => port === "relay"),
      );
      const from = toRelay.flatMap(({ from: peers }) =>
        peers.map(({ podSelector }) => podSelector.matchLabels["app.kubernetes.io/component"]),
      );
      expectText(from.join(), "worker");
    },
    "refuses what can not work, with the name of the value": async () => {
      for (const [given, said] of refusals) {
        for (const result of await templates({ ...least, ...given })) {
          if (result.code === 0) throw new Error(`taken: ${JSON.stringify(given)}`);
          expectMatch(result.stderr, said);
        }
      }
    },
  },
};

/** @type {readonly (readonly [given: Record<string, unknown>, said: RegExp])[]} */
const refusals = [
  [{ tls: { secretName: "" } }, /at '\/tls\/secretName': minLength/],
  [{ fleetSecret: {} }, /at '\/fleetSecret\/name': minLength/],
  [{ control: {} }, /at '\/control\/database\/name': minLength/],
  [{ control: { enabled: false } }, /at '\/worker\/controlUrl'/],
  [{ worker: { replicas: 0 } }, /at '\/worker\/replicas': minimum: got 0, want 1/],
  [
    { control: { ...least.control, gateway: { shutdownDrainTimeoutSecs: 9999 } } },
    /at '\/control\/gateway\/shutdownDrainTimeoutSecs': maximum: got 9,999, want 3,600/,
  ],
  [
    { worker: { frontends: { mcp: { port: 80 } } } },
    /at '\/worker\/frontends\/mcp\/port': minimum: got 80, want 1,024/,
  ],
  [
    { worker: { gateway: { relay: {} } } },
    /at '\/worker\/gateway': additional properties 'relay' not allowed/,
  ],
  [{ secrets: { TRINO: { name: "a", key: "b" } } }, /invalid propertyName 'TRINO'/],
  [
    {
      control: {
        ...least.control,
        gateway: { adminApi: { firstAdmin: { name: "a", password: "hunter22hunter22" } } },
      },
    },
    /at '\/control\/gateway\/adminApi\/firstAdmin/,
  ],
];

/** By each helm that is here. */
function templates(values) {
  const from = values === undefined ? everything : "-";
  const args = [
    "template",
    "gateway",
    chart,
    "--namespace",
    "prod",
    "--kube-version",
    kubernetesVersion,
  ];
  const input = JSON.stringify(values) ?? "";
  return Promise.all(helms().map((helm) => command(helm, [...args, "-f", from], { input })));
}

/** What every helm makes of it, which is the same. */
async function rendered(values) {
  const [first = [], ...others] = (await templates(values)).map((result) =>
    parsed(expectCode(result).stdout),
  );
  for (const other of others) expectText(JSON.stringify(other), JSON.stringify(first));
  return first;
}

function parsed(text) {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    const manifest = document.toJS();
    return manifest === null ? [] : [manifest];
  });
}

function kindsOf(manifests) {
  const counts = new Map();
  for (const { kind } of manifests) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map((pair) => pair.join(" "))
    .join(", ");
}

function podsOf(manifests) {
  return manifests.flatMap(({ spec }) =>
    spec?.template === undefined ? [] : [spec.template.spec],
  );
}

function closedIn({ securityContext, containers, automountServiceAccountToken }) {
  const pod = { runAsNonRoot: true, automountServiceAccountToken: false };
  expectText(
    JSON.stringify({ runAsNonRoot: securityContext.runAsNonRoot, automountServiceAccountToken }),
    JSON.stringify(pod),
  );
  for (const { securityContext: own, env } of containers) {
    const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = own;
    expectText(
      JSON.stringify({ allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities }),
      JSON.stringify({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      }),
    );
    const clear = env.filter(({ valueFrom }) => valueFrom?.secretKeyRef === undefined);
    expectText(clear.map(({ name }) => name).join(), "");
  }
}
