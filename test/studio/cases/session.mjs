/** Who may what, and what happens when a session or the control plane goes away. */
import { expectEqual, logIn, settled, shoot } from "../browser.mjs";
import { password } from "../fleet.mjs";
import { go } from "./look.mjs";

export const sessionCases = {
  "an administrator makes users, and each role sees what it may": async ({ browser }) => {
    const admin = await browser.open("/users");
    for (const role of ["viewer", "operator"]) {
      await admin.page.getByRole("button", { name: "Add a user" }).click();
      await admin.page.getByLabel("Name").fill(role);
      await admin.page.getByLabel("Role").selectOption(role);
      await admin.page.getByLabel("Password").fill(password);
      await admin.page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
      await admin.page.getByText(`Saved user ${role}.`).waitFor();
    }
    await admin.close();
    const viewer = await browser.open("/queries/history", { user: "viewer" });
    await viewer.page.locator("td a").first().waitFor();
    expectEqual(await viewer.page.locator("td code.clip").count(), 0, "SQL that a viewer reads");
    const links = await viewer.page.locator("aside nav a").allInnerTexts();
    expectEqual(
      ["Console", "Users", "Audit"].filter((name) => links.includes(name)),
      [],
      "pages that a viewer is offered",
    );
    await go(viewer.page, "/groups/default", "default");
    expectEqual(await viewer.page.getByRole("button", { name: /save/i }).count(), 0, "saving");
    expectEqual(await viewer.page.getByLabel(/^Rows/).isDisabled(), true, "fields");
    await shoot(viewer.page, "viewer-group");
    await viewer.close();
    const operator = await browser.open("/queries", { user: "operator" });
    await operator.page.getByRole("link", { name: "Console" }).waitFor();
    await operator.close();
  },

  "an ended session asks for a login and goes on where it was": async ({ browser }) => {
    const { page, context, close } = await browser.open("/groups/default?x=1");
    await settled(page, "default");
    await context.clearCookies();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    await shoot(page, "login");
    await logIn(page, "admin");
    await settled(page, "default");
    expectEqual(new URL(page.url()).pathname, "/studio/groups/default", "address after the login");
    await close();
  },

  "a wrong password is refused in words": async ({ browser }) => {
    const { page, close } = await browser.open("/", { user: null });
    await page.getByLabel("User").fill("admin");
    await page.getByLabel("Password").fill("not the password");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").waitFor();
    await close();
  },

  "a control plane that restarts shows as a banner, and the page recovers": async ({
    browser,
    fleet,
  }) => {
    const { page, close } = await browser.open("/workers");
    await settled(page, "Workers");
    await fleet.restartControl(async () => {
      await page.getByText("The control plane does not answer.").waitFor();
      await shoot(page, "banner");
    });
    await page.getByText("The control plane does not answer.").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "w1" }).waitFor();
    await close();
  },
};
