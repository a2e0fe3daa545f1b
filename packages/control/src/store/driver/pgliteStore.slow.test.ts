/** The store on the database that a gateway has by default: PGlite in its thread. */
import { hostOf } from "./driver.suite.ts";
import { driverStoreSuite } from "./driverStore.suite.ts";
import { openPglite } from "./pglite.ts";

driverStoreSuite("pglite in its thread", async () => {
  const opened = await openPglite({ path: ":memory:", host: hostOf() });
  if (!opened.ok) throw new Error(JSON.stringify(opened.error));
  return opened.value;
});
