import { hostOf } from "../driver/driver.suite.ts";
import { openPglite } from "../driver/pglite.ts";
import { migrateSuite } from "./migrate.suite.ts";

migrateSuite({
  name: "PGlite",
  open: async () => {
    const opened = await openPglite({ path: ":memory:", host: hostOf() });
    if (!opened.ok) throw new Error(JSON.stringify(opened.error));
    return opened.value;
  },
});
