import { chromium } from "playwright-core";
import { writeFileSync } from "node:fs";
import { logIn } from "../studio/browser.mjs";
import { startStudioFleet } from "./studioFleet.mjs";
const fleet = await startStudioFleet();
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox","--disable-gpu","--disable-dev-shm-usage"] });
const page = await (await browser.newContext({ viewport: { width: 1360, height: 860 } })).newPage();
await page.goto(`${fleet.url}/studio/`); await logIn(page, "admin");
page.on("requestfinished", async (r) => { if (r.url().includes("/admin/")) { const t=r.timing(); const res=await r.response(); console.log("   req", r.url().split("/admin")[1].slice(0,80), "wait", (t.responseStart-t.requestStart).toFixed(0), "recv", (t.responseEnd-t.responseStart).toFixed(0), "bytes", (await res.body().catch(()=>"")).length); } });
const cdp = await page.context().newCDPSession(page); await cdp.send("Profiler.enable"); await cdp.send("Performance.enable");
const link = (name) => page.locator("aside nav").getByRole("link", { name }).click();
const steps = { queries: () => link(/^Queries/), history: () => page.getByRole("navigation",{name:"Queries"}).getByRole("link",{name:"History"}).click(), workers: () => link("Workers"), overview: () => link("Overview") };
const metrics = async () => Object.fromEntries((await cdp.send("Performance.getMetrics")).metrics.map(m=>[m.name,m.value]));
for (let round=0; round<3; round++) for (const [name, act] of Object.entries(steps)) {
  if (round===2) await cdp.send("Profiler.start");
  const a = await metrics(); const t0=Date.now(); await act();
  await page.waitForTimeout(1500);
  const b = await metrics();
  console.log(name, "script", ((b.ScriptDuration-a.ScriptDuration)*1000).toFixed(0), "layout", ((b.LayoutDuration-a.LayoutDuration)*1000).toFixed(0), "style", ((b.RecalcStyleDuration-a.RecalcStyleDuration)*1000).toFixed(0), "task", ((b.TaskDuration-a.TaskDuration)*1000).toFixed(0), "nodes", b.Nodes);
  if (round===2) { const { profile } = await cdp.send("Profiler.stop"); writeFileSync(`/tmp/studio-${name}.cpuprofile`, JSON.stringify(profile)); }
}
await browser.close(); await fleet.stop(); process.exit(0);
