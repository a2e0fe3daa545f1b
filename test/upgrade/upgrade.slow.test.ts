/** The upgrade on PGlite with few records; `npm run test:real` does it with a million on a server. */
import { hostOf } from "@gateway/control/store/driver/driver.suite.ts";
import { openPglite } from "@gateway/control/store/driver/pglite.ts";
import { upgradeSuite } from "./upgrade.suite.ts";

upgradeSuite({
  name: "PGlite",
  records: 2_000,
  open: async () => {
    const opened = await openPglite({ path: ":memory:", host: hostOf() });
    if (!opened.ok) throw new Error(JSON.stringify(opened.error));
    return opened.value;
  },
  report: () => {},
});
