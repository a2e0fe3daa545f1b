/** Tests that need a PostgreSQL server; `npm run test:real` starts one and says where it is. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/real/**/*.test.ts"],
    globalSetup: ["test/setup.mjs"],
    // They share one server.
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
