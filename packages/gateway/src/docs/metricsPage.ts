/** `docs/reference/metrics.md`: what `/metrics` shows. */
import { guardServiceFailures } from "@gateway/access/guard/webhook.ts";
import { configFamilies } from "@gateway/control/config/metrics.ts";
import { workerApiFamilies } from "@gateway/control/worker/metrics.ts";
import { leaseFamilies } from "@gateway/core/capacity/lease/leaseMetrics.ts";
import { engineRunning } from "@gateway/core/capacity/reaper/reaper.ts";
import type { MetricFamily } from "@gateway/core/port/metrics.ts";
import { scriptFailures } from "@gateway/core/route/rule/ask.ts";
import { queryFamilies } from "@gateway/core/run/step/metrics.ts";
import { authFailures } from "@gateway/core/run/openDoor.ts";
import { scopeFamilies } from "@gateway/engines/adbc/scope/metrics.ts";
import { historyFamilies } from "../history/backlog.ts";
import { bugs } from "../host/node.ts";
import { restarts } from "../processes/crew.ts";
import { relayFamilies } from "../relay/metrics.ts";
import { configConfirmed, configFailures, configStale } from "../worker/snapshot/followConfig.ts";
import { code, page, table } from "./markdown.ts";

interface Family extends MetricFamily<Label> {
  readonly buckets?: readonly number[];
}

type Label = keyof typeof labels;

const labels = {
  engine: "kind of the engine that ran the query; `none` where it reached none",
  cluster_group: "name in `clusterGroups`; `none` where no group was found",
  cluster_name: "name in `clusters`",
  frontend: "key in `gateway.frontends`, or `adminApi`",
  reason: "code of the refusal, a heading of the error reference; of a scoped pool `idle` or `lru`",
  result: "`answered`, or `unreached` where the gateway that has the query did not answer",
  stage: "where it failed: `read`, `build`, `activate`, or `worker_activate` on a worker",
  status: "how the query ended: `finished`, `failed`, `cancelled` or `denied`",
  use: "what a script is for: `route`, `match`, `order`, `judge` or `rewrite`",
} as const;

/** Every family that a process may show. */
export const families: readonly Family[] = [
  ...Object.values(queryFamilies),
  ...Object.values(leaseFamilies),
  engineRunning,
  ...Object.values(scopeFamilies),
  ...Object.values(historyFamilies),
  ...Object.values(configFamilies),
  ...Object.values(workerApiFamilies),
  configStale,
  configConfirmed,
  configFailures,
  ...Object.values(relayFamilies),
  authFailures,
  restarts,
  scriptFailures,
  guardServiceFailures,
  bugs,
];

const introduction = [
  "The admin listener (`gateway.adminApi`) answers `/metrics` in the text format of Prometheus.",
  "Labels hold names of the configuration and words of this page, never a user, SQL or a token. Besides",
  "these families there are the usual ones of a Node process (`process_*` and `nodejs_*`): CPU, memory,",
  "open files, garbage collection and the delay of the event loop.",
  "",
  "A control plane of functions has no listener to ask. It writes the same families into its log in CloudWatch's embedded",
  "metric format, in the namespace `QueryGateway`, with `FunctionName` and each label as dimensions; a counter is what was",
  "counted since the line before.",
];

/** The page. */
export function metricsPage(): string {
  const rows = families.map((family) => [
    code(family.name),
    kindOf(family),
    family.labels.map((label) => code(label)).join(", ") || "–",
    family.help,
  ]);
  const meanings = Object.entries(labels).map(([label, meaning]) => [code(label), meaning]);
  return page([
    ["# Metrics"],
    introduction,
    table(["Name", "Kind", "Labels", "Meaning"], rows),
    ["## Labels"],
    table(["Label", "Value"], meanings),
    ["## Buckets"],
    families.flatMap(({ name, buckets }) =>
      buckets === undefined ? [] : [`- ${code(name)}: ${buckets.join(", ")}`],
    ),
  ]);
}

/** By the rule that names follow: only counters end in `_total`. */
function kindOf({ name, buckets }: Family): string {
  if (buckets !== undefined) return "histogram";
  return name.endsWith("_total") ? "counter" : "gauge";
}
