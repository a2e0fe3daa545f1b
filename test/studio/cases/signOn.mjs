/** Signing on with the account of an identity provider, as a browser does it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSignOnProvider } from "../../fake/signOnProvider.mjs";
import { axeProblems, expectEqual, settled, shoot } from "../browser.mjs";
import { password } from "../fleet.mjs";
import { startGateway } from "../process.mjs";

const clientSecret = "a secret of the console";

export const signOnCases = {
  "whoever the provider proves comes in by their groups, to the page they wanted": async ({
    browser,
  }) => {
    let account = { sub: "rita", groups: ["root"] };
    const gateway = await startWithProvider(() => account);
    try {
      const first = await browser.open(`${gateway.url}/studio/workers`, { user: null });
      const { page, problems } = first;
      const button = page.getByRole("link", { name: "Log in with Company account" });
      await button.waitFor();
      await shoot(page, "sign-on");
      expectEqual(await axeProblems(page), [], "axe");
      await button.click();
      await settled(page, "Workers");
      await page.getByText("rita").first().waitFor();
      await page.getByRole("link", { name: "Users" }).waitFor();
      expectEqual(problems, [], "problems");
      await page.getByRole("button", { name: "Log out" }).click();
      await button.waitFor();
      await first.close();

      account = { sub: "vera", groups: ["readers"] };
      const second = await browser.open(`${gateway.url}/studio/clusters`, { user: null });
      await second.page.getByRole("link", { name: "Log in with Company account" }).click();
      await settled(second.page, "Clusters");
      await second.page.getByText("viewer", { exact: true }).waitFor();
      expectEqual(await second.page.getByText("Add a cluster").count(), 0, "a viewer's button");
      await second.close();

      account = { sub: "nobody", groups: ["others"] };
      const third = await browser.open(`${gateway.url}/studio/`, { user: null });
      await third.page.getByRole("link", { name: "Log in with Company account" }).click();
      await third.page.getByRole("alert").waitFor();
      await shoot(third.page, "sign-on-refused");
      await third.close();
    } finally {
      await gateway.stop();
    }
  },
};

/** A gateway beside its provider: each has to know the other's address before it starts. */
async function startWithProvider(account) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const redirectUri = `${url}/admin/sign-on/oidc/callback`;
  const idp = await startSignOnProvider({ clientSecret, redirectUri, account });
  const folder = await mkdtemp(join(tmpdir(), "gateway-studio-"));
  const file = join(folder, "gateway.yaml");
  const { issuer } = idp;
  const roles = { admin: ["root"], viewer: ["readers"] };
  const oidc = { issuer, clientId: "console", clientSecret, publicUrl: url, roles };
  const config = {
    gateway: {
      frontends: { postgresWire: { host: "127.0.0.1", port: 0 } },
      adminApi: {
        host: "127.0.0.1",
        port,
        firstAdmin: { name: "admin", password },
        signOn: { oidc },
      },
      persistence: { type: "inMemory" },
    },
    clusters: { local: { engine: "duckDb" } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: 4 } },
    routingFallback: "default",
    auth: { provider: "none" },
  };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  const started = await startGateway(["start", "--config", file]);
  return {
    url,
    stop: async () => {
      await started.end();
      await idp.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
