/** The upgrade of a database with many records on a PostgreSQL server. */
import { hostOf } from "@gateway/control/store/driver/driver.suite.ts";
import { openPostgres } from "@gateway/control/store/driver/postgres.ts";
import { Secret } from "@gateway/core/secret.ts";
import { upgradeSuite } from "../upgrade/upgrade.suite.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

const host = hostOf();

upgradeSuite({
  name: "PostgreSQL",
  records: Number(process.env["GATEWAY_TEST_RECORDS"] ?? 1_000_000),
  open: async () => {
    const url = new Secret((await emptyDatabase("upgrade_test")).href);
    return openPostgres({ url, connectionsMax: 4, host });
  },
  // The run that started these tests prints what follows the mark.
  report: (line) => void process.stdout.write(`figure: ${line}\n`),
});
