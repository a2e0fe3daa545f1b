/**
 * A process that is told a source, its text and tests, and says which test fails first. It stays for the next question:
 * vitest runs each test file in a process of its own, so nothing of a wrong outlives the file that ran it, while what was
 * compiled of all the other sources is kept. `run.mjs` ends it, and those, when a wrong makes one hang.
 */
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
  const before = globalThis.mutation?.file;
  globalThis.mutation = { file, text };
  if (before !== undefined) vitest.invalidateFile(before);
  vitest.invalidateFile(file);
  for (const test of tests) {
    process.send({ at: test });
    const { testModules, unhandledErrors } = await vitest.rerunTestSpecifications(
      vitest.getModuleSpecifications(test),
    );
    // It answers of all that it ever ran.
    const failed = testModules.some((one) => one.moduleId === test && !one.ok());
    if (failed || unhandledErrors.length > 0) return test;
  }
  return null;
}
