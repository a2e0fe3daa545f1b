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
    // Many a wrong leaves a promise that nobody keeps; the process is ended when one makes a loop (run.mjs).
    testTimeout: 30_000,
    // One that fails is enough: the others of its file may each wait as long for nothing.
    bail: 1,
    hookTimeout: 30_000,
    // A process for each file: what a wrong did to it ends with it.
    isolate: true,
    maxWorkers: 1,
  },
});
