/** A process that is told a source, its text and tests, and says which test fails first. `run.mjs` ends it when it hangs. */
import { fileURLToPath } from "node:url";
import { createVitest } from "vitest/node";

const root = fileURLToPath(new URL("../../", import.meta.url));
const config = fileURLToPath(new URL("vitest.config.mjs", import.meta.url));
const vitest = await createVitest("test", {
  root,
  config,
  watch: false,
  reporters: [{}],
});
await vitest.globTestSpecifications();
process.on("message", (question) => {
  void judge(question).then(
    (failing) => process.send({ failing }),
    (error) => process.send({ error: String(error) }),
  );
});
process.on("disconnect", () => process.exit());
process.send({ ready: true });

/** Tests one after the other, so that the nearest that fails spares the others. */
async function judge({ file, text, tests }) {
  globalThis.mutation = { file, text };
  vitest.invalidateFile(file);
  for (const test of tests) {
    const { testModules, unhandledErrors } = await vitest.rerunTestSpecifications(
      vitest.getModuleSpecifications(test),
    );
    const failed = testModules.some((one) => !one.ok());
    if (failed || unhandledErrors.length > 0) return test;
  }
  return null;
}
