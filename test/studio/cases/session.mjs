/** Who may what, and what happens when a session or the control plane goes away. */
import { expectEqual, logIn, settled, shoot } from "../browser.mjs";
import { password } from "../fleet.mjs";
import { go } from "./look.mjs";

export const sessionCases = {
  "an administrator makes users, and each role sees what it may": async ({ browser }) => {
    const admin = await browser.open("/users");
    for (const role of ["viewer", "operator"]) await addUser(admin.page, role, role);
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
    await go(operator.page, "/clusters/local", "local");
    await operator.page.getByRole("button", { name: "Test connection" }).waitFor();
    const writes = operator.page.getByRole("button", { name: /^(Delete|Drain|Review and save)$/ });
    expectEqual(await writes.count(), 0, "writes that an operator is offered");
    await operator.close();
  },

  "an ended session asks for a login and goes on where it was": async ({ browser }) => {
    const { page, context, close } = await browser.open("/queries/history?status=failed");
    await settled(page, "Queries");
    await context.clearCookies();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    await shoot(page, "login");
    await logIn(page, "admin");
    await settled(page, "Queries");
    const { pathname, search } = new URL(page.url());
    expectEqual(pathname + search, "/studio/queries/history?status=failed", "address after it");
    expectEqual(await page.getByLabel("Status").inputValue(), "failed", "filter after it");
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

/** On the page of users. */
export async function addUser(page, name, role) {
  await page.getByRole("button", { name: "Add a user" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Role").selectOption(role);
  await dialog.getByLabel("Password").fill(password);
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText(`Saved user ${name}.`).waitFor();
}
