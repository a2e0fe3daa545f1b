/** What the guides tell people to write is what the gateway takes. */
import { readdirSync, readFileSync } from "node:fs";
import { parseConfig } from "@gateway/gateway/config/load.ts";
import { lineOf } from "@gateway/control/config/check/report.ts";
import { describe, expect, it } from "vitest";

const docs = new URL("../../docs/", import.meta.url);
const configs = readdirSync(docs)
  .filter((name) => name.endsWith(".md"))
  .flatMap((name) => {
    const text = readFileSync(new URL(name, docs), "utf8");
    // Values of the chart are held against its own schema (test/infra/chart.test.ts).
    return [...text.matchAll(/^```yaml\n(?!# values\.yaml\n)(.*?)^```/gms)].map(
      ([, yaml = ""]) => ({
        name,
        yaml,
      }),
    );
  });

describe("the guides", () => {
  it("have configurations to look at", () => {
    expect(configs.length).toBeGreaterThanOrEqual(2);
  });

  it.each(configs)("show a configuration that is valid in $name", ({ yaml }) => {
    const parsed = parseConfig(yaml);
    expect(parsed.ok ? [] : parsed.error.map(lineOf)).toEqual([]);
  });
});
