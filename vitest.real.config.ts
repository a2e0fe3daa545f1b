/** Tests that need a PostgreSQL server; `npm run test:real` starts one and says where it is. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/real/**/*.test.ts"],
    globalSetup: ["test/setup.mjs"],
    // They share one server, and what they import, which takes three seconds of a processor's time.
    fileParallelism: false,
    isolate: false,
    testTimeout: 180_000,
    // The first gateway of a run is started by sources that nobody has read yet.
    hookTimeout: 180_000,
  },
});
