/** Somebody who never saw it: from the first start to why a query went where it went, in clicks that are counted. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectEqual, settled, shoot } from "../browser.mjs";
import { password } from "../fleet.mjs";
import { startGateway } from "../process.mjs";

const clicksMax = 9;

export const firstTimeCases = {
  "a first-time user gets from the set-up token to a query's way in under ten clicks": async ({
    browser,
  }) => {
    const steps = stepsFrom(performance.now());
    const gateway = await startAlone();
    steps.done("started");
    const { page, problems, close } = await browser.open(`${gateway.url}/`, {
      user: null,
      before: countClicks,
    });
    await page.getByRole("heading", { name: "Make the first administrator" }).waitFor();
    // What is typed goes where the focus is: no click stands before it.
    await page.keyboard.type(gateway.token);
    await shoot(page, "set-up");
    for (const key of ["Tab", "Tab"]) await page.keyboard.press(key);
    await page.keyboard.type(password);
    await page.keyboard.press("Enter");
    await settled(page, "Overview");
    steps.done("administrator");
    await shoot(page, "first-overview");
    await page.getByRole("region", { name: "First steps" }).getByText("Add a cluster").click();
    await settled(page, "New cluster");
    await page.keyboard.type("lake");
    const chosen = 1;
    await page.getByLabel("Engine").selectOption("duckDb");
    await page.getByRole("button", { name: "Create cluster" }).click();
    await settled(page, "lake");
    steps.done("cluster");
    await page.getByRole("link", { name: "Add a rule that leads to lake" }).click();
    await settled(page, "Routing");
    await page.getByRole("textbox", { name: /^(Pattern|Regular expression)/ }).click();
    await page.keyboard.type("swim");
    await shoot(page, "first-rule");
    await page.getByRole("button", { name: "Review and save" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved. Workers are told now.").first().waitFor();
    steps.done("rule");
    await page.getByRole("link", { name: "Console" }).click();
    await page.locator(".editor .cm-content:focus").waitFor();
    await page.keyboard.type("select 'swim' as answer");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("region", { name: "Rows" }).getByText("swim", { exact: true }).waitFor();
    steps.done("query");
    await page.getByRole("link", { name: "Why it went there" }).click();
    const why = page.getByRole("region", { name: "Why it went there" });
    await why
      .getByText(/queryRegex/)
      .first()
      .waitFor();
    await why.getByText(/lake/).first().waitFor();
    await shoot(page, "first-why");
    steps.done("its way");
    const clicks = chosen + (await clicksOf(page));
    console.log(`         ${clicks} clicks; ${steps.text()}`);
    expectEqual([clicks <= clicksMax, problems], [true, []], `${clicks} clicks; problems`);
    await close();
    await gateway.stop();
  },

  "the link of a quick start signs one browser in, once": async ({ browser }) => {
    const cwd = await mkdtemp(join(tmpdir(), "gateway-studio-"));
    const printed = /Console\s+(http:\/\/\S+)/;
    const started = await startGateway(["quickstart", "--free-ports"], { cwd, printed });
    try {
      const [, link] = started.found;
      const first = await browser.open(link, { user: null });
      await settled(first.page, "Overview");
      await first.page.getByText("admin").first().waitFor();
      expectEqual(new URL(first.page.url()).search, "", "what of the link stays in the address");
      expectEqual(first.problems, [], "problems");
      await first.close();
      const second = await browser.open(link, { user: null });
      await second.page.getByRole("heading", { name: /Log in|Make the first/ }).waitFor();
      await second.page.getByRole("alert").waitFor();
      await shoot(second.page, "link-used");
      await second.close();
    } finally {
      await started.end();
      await rm(cwd, { recursive: true, force: true });
    }
  },
};

/** A standalone gateway nobody has set up, with an embedded engine. */
async function startAlone() {
  const folder = await mkdtemp(join(tmpdir(), "gateway-studio-"));
  const file = join(folder, "gateway.yaml");
  const config = {
    gateway: {
      frontends: { postgresWire: { host: "127.0.0.1", port: 0 } },
      adminApi: { host: "127.0.0.1", port: 0 },
      persistence: { type: "inMemory" },
    },
    clusters: { local: { engine: "duckDb" } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: 4 } },
    routingFallback: "default",
    auth: { provider: "none" },
  };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  const printed = /"token":"([^"]+)"/;
  const started = await startGateway(["start", "--config", file], { printed });
  return {
    url: `http://127.0.0.1:${started.ports.adminApi}`,
    token: started.found[1],
    stop: async () => {
      await started.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Of a pointer, wherever they land; a choice of a list is counted by the case. */
function countClicks(page) {
  return page.addInitScript(() => {
    const count = ({ isTrusted }) => {
      if (isTrusted) sessionStorage.clicks = Number(sessionStorage.clicks ?? 0) + 1;
    };
    globalThis.addEventListener("pointerdown", count, true);
  });
}

function clicksOf(page) {
  return page.evaluate(() => Number(sessionStorage.clicks ?? 0));
}

/** Seconds of each step, to print: nothing is asserted of them. */
function stepsFrom(fromMs) {
  let lastMs = fromMs;
  const said = [];
  return {
    done: (name) => {
      const nowMs = performance.now();
      said.push(`${name} ${((nowMs - lastMs) / 1_000).toFixed(1)} s`);
      lastMs = nowMs;
    },
    text: () => said.join(", "),
  };
}
