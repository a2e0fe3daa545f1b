/** What is made from the code alone: `docs/reference`, where the tests write as well (`test/compat`), and what the chart takes. */
import { rootJsonSchema } from "../config/load.ts";
import { chartSchemaText } from "./chartValues.ts";
import { configPage } from "./configPage.ts";
import { errorsPage } from "./errorsPage.ts";
import { metricsPage } from "./metricsPage.ts";
import { typesPage } from "./typesPage.ts";

export interface Page {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** The pages as the code has them now. The same code gives the same bytes. */
export function referencePages(): readonly Page[] {
  const schema = rootJsonSchema();
  const pages = {
    "config.md": configPage(schema),
    "config.schema.json": `${JSON.stringify(schema, null, 2)}\n`,
    "errors.md": errorsPage(),
    "metrics.md": metricsPage(),
    "types.md": typesPage(),
  };
  const made = Object.entries(pages).map(([name, text]) => ({
    path: `docs/reference/${name}`,
    text,
  }));
  return [...made, { path: "infra/helm/values.schema.json", text: chartSchemaText() }];
}
