/**
 * `npm run test:studio [WORD…]`: Studio in a real browser, against a control plane with two workers and clients that
 * ask all the time. Words choose cases by their names. Pictures of every page lie in `.gateway/studio/` afterwards.
 */
import { chromiumTool } from "../real/chromium.mjs";
import { startBrowser } from "./browser.mjs";
import { accessCases } from "./cases/access.mjs";
import { consoleCases } from "./cases/console.mjs";
import { firstTimeCases } from "./cases/firstTime.mjs";
import { liveCases } from "./cases/live.mjs";
import { lookCases } from "./cases/look.mjs";
import { objectCases } from "./cases/objects.mjs";
import { queryCases } from "./cases/queries.mjs";
import { scriptCases } from "./cases/scripts.mjs";
import { sessionCases } from "./cases/session.mjs";
import { settingCases } from "./cases/settings.mjs";
import { signOnCases } from "./cases/signOn.mjs";
import { userCases } from "./cases/users.mjs";
import { metCases, writeCases } from "./cases/writes.mjs";
import { startFleet } from "./fleet.mjs";

const words = process.argv.slice(2);
const missing = await chromiumTool();
if (missing !== true) {
  console.log(`0 passed, 0 failed, 1 skipped (${missing})`);
  process.exit(0);
}
const fleet = await startFleet();
const browser = await startBrowser(fleet);
const counts = { passed: 0, failed: 0 };
try {
  const all = {
    ...firstTimeCases,
    ...queryCases,
    ...consoleCases,
    ...writeCases,
    ...accessCases,
    ...scriptCases,
    ...lookCases,
    ...objectCases,
    ...settingCases,
    ...userCases,
    ...sessionCases,
    ...signOnCases,
    ...liveCases,
    // Of all cases together, so it is no question to some of them.
    ...(words.length === 0 ? metCases : {}),
  };
  for (const [name, run] of Object.entries(all)) {
    if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
    const fromMs = performance.now();
    try {
      await run({ browser, fleet });
      counts.passed += 1;
      console.log(`passed   ${name} (${Math.round((performance.now() - fromMs) / 1_000)} s)`);
    } catch (error) {
      counts.failed += 1;
      await browser.leave(`failed-${counts.failed}`);
      console.log(`FAILED   ${name}\n${String(error.message).replaceAll(/^/gm, "         ")}`);
    }
  }
} finally {
  await browser.close();
  await fleet.stop();
}
console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
process.exit(counts.failed > 0 ? 1 : 0);
