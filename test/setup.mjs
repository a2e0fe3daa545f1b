/** Runs once before all tests: the worker threads they start live in the bundle. */
import { buildIfStale } from "../packages/gateway/bin/build.mjs";

/**
 * A broken build does not stop the run, so that one can work on a test of `wire` while `gateway`
 * does not compile. `npm test` builds first, as a check of its own, and fails there.
 */
export async function setup() {
  try {
    await buildIfStale();
  } catch (cause) {
    console.error("The bundle is stale: tests that start threads run old code.", cause.message);
  }
}
