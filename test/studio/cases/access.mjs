/** What a policy makes of a statement, asked of what is saved and of what is only typed. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { axeProblems, expectEqual, shoot } from "../browser.mjs";
import { password } from "../fleet.mjs";
import { startGateway } from "../process.mjs";
import { go } from "./look.mjs";

const policy = {
  provider: "rules",
  defaultSchema: "main",
  rules: [
    {
      name: "ownRegion",
      groups: ["analysts"],
      tables: ["main.orders"],
      rowFilter: "region IN ${groups}",
      columns: ["id", "email"],
      masks: { email: "'hidden'" },
    },
  ],
};
/** Nobody logs in here as a client. */
export const ofNobody = "$2b$10$d.NagsjC2OoyOPkh6gemWeW7iPHlNXzW.olrhOyYKhhJKs/8vx6Jm";
const closed = { ...policy, rules: [{ name: "closed", tables: ["*.*"], effect: "deny" }] };

export const accessCases = {
  "what a policy makes of a statement is shown before the policy is saved": async ({ browser }) => {
    const gateway = await startControlled();
    try {
      const path = "/studio/settings/accessControl";
      const { page, problems, close } = await browser.open(gateway.url + path);
      const trial = page.getByRole("region", { name: /^Dry run: what may this user see/ });
      await trial.getByText("saved or not").waitFor();
      await trial.getByLabel("SQL of the client").fill("select * from orders");
      await trial.getByLabel("User groups").fill("analysts, EU");
      await ask(trial, "Access control would allow it. Group default.");
      const sent = trial.getByRole("region", { name: "What would be sent on" });
      await sent.getByText("('hidden') AS email").waitFor();
      await trial.getByRole("row", { name: /orders select allow ownRegion/ }).waitFor();
      await trial.getByText("email: 'hidden'").waitFor();
      await shoot(page, "policy-trial");
      expectEqual(await axeProblems(page), [], "axe");

      await page.getByLabel("JSON", { exact: true }).check();
      await page.getByRole("textbox", { name: "JSON" }).fill(JSON.stringify(closed));
      await ask(trial, "Access control would refuse it.");
      await page
        .getByRole("textbox", { name: "JSON" })
        .fill(JSON.stringify({ ...policy, rules: [{ name: "no table" }] }));
      await ask(trial, "accessControl.rules[0].tables");

      const other = await browser.open(`${gateway.url}/studio/access`);
      const saved = other.page.getByRole("region", { name: /^Dry run: may this user/ });
      await saved.getByText("that is saved").waitFor();
      await saved.getByLabel("SQL of the client").fill("select * from orders");
      await saved.getByLabel("User groups").fill("analysts");
      await ask(saved, "Access control would allow it. Group default.");
      await saved.getByLabel("User groups").fill("");
      await ask(saved, "Access control would refuse it.");
      await other.close();
      expectEqual(problems, [], "problems");
      await close();
    } finally {
      await gateway.stop();
    }
  },

  "a group that no policy reaches says so": async ({ browser }) => {
    const { page, close } = await browser.open("/access");
    await go(page, "/access", "Access");
    const trial = page.getByRole("region", { name: /^Dry run: may this user/ });
    await ask(trial, "The group is not under access control");
    await close();
  },
};

async function ask(trial, said) {
  await trial.getByRole("button", { name: "Ask" }).click();
  await trial.getByText(said).first().waitFor();
}

/** A gateway whose one group is under the policy. */
async function startControlled() {
  const folder = await mkdtemp(join(tmpdir(), "gateway-studio-"));
  const file = join(folder, "gateway.yaml");
  const config = {
    gateway: {
      frontends: { postgresWire: { host: "127.0.0.1", port: 0 } },
      adminApi: { host: "127.0.0.1", port: 0, firstAdmin: { name: "admin", password } },
      persistence: { type: "inMemory" },
    },
    clusters: { local: { engine: "duckDb" } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: 4 } },
    routingFallback: "default",
    auth: { provider: "static", staticUsers: { users: { ann: { passwordHash: ofNobody } } } },
    accessControl: policy,
  };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  const started = await startGateway(["start", "--config", file]);
  return {
    url: `http://127.0.0.1:${started.ports.adminApi}`,
    stop: async () => {
      await started.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
