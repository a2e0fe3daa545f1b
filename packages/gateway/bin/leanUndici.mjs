/**
 * What of undici goes into a bundle: the clients that sources name. Its index brings along its own `fetch`, caches, stand-ins for
 * tests and more, which would be read at each start and never called; half of it. A source that names anything else fails the build.
 */
const named = `
import Dispatcher from "./lib/dispatcher/dispatcher.js";
import api from "./lib/api/index.js";
Object.assign(Dispatcher.prototype, api);
export { default as Agent } from "./lib/dispatcher/agent.js";
export { default as Pool } from "./lib/dispatcher/pool.js";
export { default as ProxyAgent } from "./lib/dispatcher/proxy-agent.js";
export { default as buildConnector } from "./lib/core/connect.js";
export { default as errors } from "./lib/core/errors.js";
`;

export const leanUndici = {
  name: "lean undici",
  setup(bundler) {
    bundler.onLoad({ filter: /\/node_modules\/undici\/index\.js$/ }, () => ({ contents: named }));
  },
};
