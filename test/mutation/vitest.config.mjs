/** One worker that gets one source in another text: what `judge.mjs` put into `globalThis.mutation`. */
import { defineConfig } from "vitest/config";

// oxlint-disable-next-line import/no-default-export -- vitest takes the default export of a config
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
    // The process is ended when a wrong makes one hang (run.mjs); until then a busy machine may take its time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    isolate: false,
    maxWorkers: 1,
  },
});
