/** One worker that gets one source in another text: what `judge.mjs` put into `globalThis.mutation`. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [
    {
      name: "one source is another",
      enforce: "pre",
      load: (id) => {
        const { file, text } = globalThis.mutation ?? {};
        return id.split("?")[0] === file ? text : undefined;
      },
    },
  ],
  test: {
    include: ["packages/*/src/**/*.test.ts"],
    exclude: ["**/*.slow.test.ts"],
    testTimeout: 20_000,
    isolate: false,
    maxWorkers: 1,
  },
});
