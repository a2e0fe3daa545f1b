/** The console's main ways in a real browser; all of them are `npm run test:studio`. */
import { startBrowser } from "../../studio/browser.mjs";
import { consoleCases } from "../../studio/cases/console.mjs";
import { queryCases } from "../../studio/cases/queries.mjs";
import { sessionCases } from "../../studio/cases/session.mjs";
import { startFleet } from "../../studio/fleet.mjs";

const short = [
  queryCases["hostile SQL, names and labels are shown as text"],
  consoleCases["a query is run, shown, found, and its way explained"],
  sessionCases["an ended session asks for a login and goes on where it was"],
];

export const studioCases = {
  tool: "studio",
  cases: {
    "queries, the console and a session that ends, in Chromium": async () => {
      const fleet = await startFleet();
      try {
        const browser = await startBrowser(fleet);
        try {
          for (const run of short) await run({ browser, fleet });
        } finally {
          await browser.close();
        }
      } finally {
        await fleet.stop();
      }
    },
  },
};
