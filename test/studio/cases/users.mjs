/** Users and their sessions: changed, ended, deleted, and what the other of two writers is told. */
import { expectEqual, logIn, shoot } from "../browser.mjs";
import { password } from "../fleet.mjs";
import { addUser } from "./session.mjs";

export const userCases = {
  "a user is changed, has a session ended, is disabled and deleted": async ({ browser }) => {
    const { page, problems, close } = await browser.open("/users");
    await addUser(page, "nora", "operator");
    const nora = await browser.open("/workers", { user: "nora" });
    await page.reload();
    await page.getByRole("button", { name: "End session of nora" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End session" }).click();
    await page.getByText("The session has ended.").waitFor();
    await nora.page.getByRole("heading", { name: "Log in" }).waitFor();
    await logIn(nora.page, "nora");
    // A role of less rights holds at once.
    await change(page, "nora", (dialog) => dialog.getByLabel("Role").selectOption("viewer"));
    await nora.page.getByRole("heading", { name: "Log in" }).waitFor();
    await logIn(nora.page, "nora");
    await nora.page.getByText("viewer", { exact: true }).waitFor();
    await change(page, "nora", (dialog) => dialog.getByLabel(/^Disabled/).check());
    await nora.page.getByRole("heading", { name: "Log in" }).waitFor();
    await nora.page.getByLabel("User", { exact: true }).fill("nora");
    await nora.page.getByLabel("Password", { exact: true }).fill(password);
    await nora.page.getByRole("button", { name: "Log in", exact: true }).click();
    await nora.page.getByRole("alert").waitFor();
    await nora.close();
    await page.getByRole("button", { name: "Delete nora" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete user" }).click();
    await page.getByText("Deleted user nora.").waitFor();
    expectEqual(problems, [], "problems");
    await close();
  },

  "who changes a user that somebody else changed meanwhile is shown what is there now": async ({
    browser,
  }) => {
    const one = await browser.open("/users");
    await addUser(one.page, "otto", "viewer");
    const other = await browser.open("/users");
    await one.page.getByRole("button", { name: "Change otto" }).click();
    await change(other.page, "otto", (dialog) => dialog.getByLabel("Role").selectOption("admin"));
    const dialog = one.page.getByRole("dialog");
    await dialog.getByLabel("Role").selectOption("operator");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").waitFor();
    await shoot(one.page, "user-conflict");
    await dialog.getByRole("button", { name: "Show what is there now" }).click();
    await dialog.getByRole("alert").waitFor({ state: "detached" });
    expectEqual(await dialog.getByLabel("Role").inputValue(), "admin", "the role of the other");
    await dialog.getByLabel("Role").selectOption("operator");
    await dialog.getByRole("button", { name: "Save" }).click();
    await one.page.getByText("Saved user otto.").waitFor();
    await one.close();
    await other.close();
  },
};

async function change(page, name, edit) {
  await page.getByRole("button", { name: `Change ${name}` }).click();
  const dialog = page.getByRole("dialog");
  await edit(dialog);
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
}
