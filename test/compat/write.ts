/** The reporter of `npm run docs:compatibility`. */
import { CompatibilityReporter } from "./reporter.ts";

// oxlint-disable-next-line import/no-default-export -- vitest takes the default export of a reporter
export default class CompatibilityWriter extends CompatibilityReporter {
  constructor() {
    super({ mode: "write" });
  }
}
