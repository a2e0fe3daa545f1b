/** The alert rules and the dashboard beside the deployment name metrics and labels that exist. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { families } from "./metricsPage.ts";

const root = new URL("../../../../infra/monitoring/", import.meta.url);
/** Labels that a scrape or the format of histograms adds. */
const added = ["instance", "le"];

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: Readonly<Record<string, string>>;
    }[];
  }[];
}
interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}

const rules = (parse(readFileSync(new URL("alerts.yaml", root), "utf8")) as Rules).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(readFileSync(new URL("dashboard.json", root), "utf8")) as Dashboard;
const shown = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

describe.each([
  ["alert rules", rules.map(({ expr }) => expr)],
  ["the dashboard", shown],
])("%s", (_name, expressions) => {
  it("name metrics of ours, with labels that they have", () => {
    expect(expressions.length).toBeGreaterThan(8);
    expect(expressions.flatMap(problemsOf)).toEqual([]);
  });
});

describe("alert rules", () => {
  it("each have series over which they fire", () => {
    const tests = readFileSync(new URL("alerts.test.yaml", root), "utf8");
    const fired = [...tests.matchAll(/alertname="(\w+)"/g)].map(([, name = ""]) => name);
    expect([...new Set(fired)].toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
  });

  it("say of labels only what their expression keeps", () => {
    const lost = rules.flatMap(({ expr, annotations }) => {
      const used = [
        ...Object.values(annotations)
          .join(" ")
          .matchAll(/\$labels\.(\w+)/g),
      ];
      const by = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(/, */);
      const kept = by ?? [...labelsIn(expr), ...added];
      return used.flatMap(([, label = ""]) => (kept.includes(label) ? [] : [`${expr}: ${label}`]));
    });
    expect(lost).toEqual([]);
  });
});

function problemsOf(expression: string): readonly string[] {
  const names = [...expression.matchAll(/\bgateway_\w+/g)].map(([name]) => familyName(name));
  const unknown = names.filter((name) => !families.some((family) => family.name === name));
  const known = [...labelsIn(expression), ...added];
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, by = ""]) =>
    by.split(/, */),
  );
  const selected = [...expression.matchAll(/\{(\w+)=/g)].map(([, label = ""]) => label);
  const strange = [...grouped, ...selected].filter((label) => !known.includes(label));
  return [...unknown, ...strange.map((label) => `${expression}: ${label}`)];
}

/** Labels of all metrics that an expression names. */
function labelsIn(expression: string): readonly string[] {
  return families.flatMap(({ name, labels }) => (expression.includes(name) ? [...labels] : []));
}

/** A histogram's name without what the format adds. */
function familyName(name: string): string {
  return name.replace(/_(bucket|sum|count)$/, "");
}
