/**
 * What of prom-client goes into a bundle: the registry and Node's own families. Its index brings along summaries with two trees,
 * a push gateway and more, and one of the families OpenTelemetry for the name of the current span, which it asks for only
 * with exemplars; all of it would be kept by each gateway and never called. A source that names anything else fails the build.
 */
const named = `
export { default as Registry } from "./lib/registry.js";
export { default as collectDefaultMetrics } from "./lib/defaultMetrics.js";
`;

export const leanPrometheus = {
  name: "lean prom-client",
  setup(bundler) {
    bundler.onLoad({ filter: /\/node_modules\/prom-client\/index\.js$/ }, () => ({
      contents: named,
    }));
    bundler.onResolve({ filter: /^@opentelemetry\/api$/ }, ({ path, importer }) =>
      /\/prom-client\//.test(importer) ? { path, namespace: "leanPrometheus" } : undefined,
    );
    bundler.onLoad({ filter: /./, namespace: "leanPrometheus" }, () => ({
      contents: "module.exports = {};",
    }));
  },
};
