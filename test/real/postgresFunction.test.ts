/** The control plane as a function, and its deploy step as one, in front of a PostgreSQL server. */
import { stepAsFunction } from "../lambda/deployment.ts";
import { functionSuite } from "../lambda/function.suite.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

functionSuite({
  server: "PostgreSQL",
  step: stepAsFunction,
  open: async () => {
    const { href, hostname, port } = await emptyDatabase("function_test");
    return { url: href, host: hostname, port: Number(port), [Symbol.asyncDispose]: async () => {} };
  },
});
