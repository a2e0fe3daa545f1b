/** Builds Studio into `packages/studio/dist`; `npm run build` packs it beside the bundle of the gateway. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const target = process.env["GATEWAY_URL"] ?? "http://127.0.0.1:19000";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "/studio/",
  build: {
    target: ["chrome123", "firefox125", "safari17.5"],
    // A page's policy allows no inline content, and a picture in a style sheet would be one.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The editor is one library; it loads with the console alone.
    chunkSizeWarningLimit: 800,
    sourcemap: false,
    reportCompressedSize: false,
    rolldownOptions: {
      // How long plugins took is no finding on a machine that does other things, too.
      checks: { pluginTimings: false },
      // Libraries mark what may not run on a server of theirs; nothing of ours runs on one.
      onwarn: (warning, warn) => {
        if (warning.code !== "MODULE_LEVEL_DIRECTIVE") warn(warning);
      },
    },
  },
  // `npx vite packages/studio` while one works on it, beside a running control plane.
  server: { proxy: { "/admin": { target, changeOrigin: true } } },
});
