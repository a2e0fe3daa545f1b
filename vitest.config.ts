import { configDefaults, defineConfig } from "vitest/config";

/** Proofs that take long run with `npm run test:real`, which names them so. */
const slow = process.env["GATEWAY_SLOW"] === "1" ? [] : ["**/*.slow.test.ts"];
const night = process.env["GATEWAY_NIGHTLY"] === "1";
const elsewhere = ["test/real/**", "test/bench/**", "test/fleet/**"];
const exclude = [...configDefaults.exclude, ...elsewhere, ...slow];

export default defineConfig({
  test: {
    globalSetup: ["test/setup.mjs"],
    // Ends a test that hangs; how fast a busy machine is proves nothing, least of all at night.
    testTimeout: night ? 600_000 : 30_000,
    hookTimeout: night ? 600_000 : 60_000,
    // No module mocks and no globals here, so files share what they import: a third of the time.
    isolate: false,
    // Half of what a machine of two cores has would stand still otherwise.
    maxWorkers: "100%",
    projects: [
      {
        extends: true,
        test: {
          name: "packages",
          include: ["packages/*/src/**/*.test.ts"],
          exclude,
        },
      },
      { extends: true, test: { name: "whole", include: ["test/**/*.test.ts"], exclude } },
    ],
  },
});
