import { describe, expect, it } from "vitest";
import type { AuthContext } from "../query/identity.ts";
import { allowListAuthorizer } from "./allowList.ts";

const signal = new AbortController().signal;

describe("allowListAuthorizer", () => {
  it("lets everybody in where no list is written", async () => {
    expect(await mayUse(undefined, userOf("bob"))).toBe(true);
    expect(await mayUse({}, userOf("bob"))).toBe(true);
  });

  it("lets a match in either list in, and nobody else", async () => {
    const lists = { allowUsers: ["alice"], allowGroups: ["staff"] };
    expect(await mayUse(lists, userOf("alice"))).toBe(true);
    expect(await mayUse(lists, userOf("bob", { groups: ["guests", "staff"] }))).toBe(true);
    expect(await mayUse(lists, userOf("bob", { groups: ["guests"] }))).toBe(false);
  });

  it("closes a group whose list is written and empty", async () => {
    expect(await mayUse({ allowUsers: [] }, userOf("alice", { groups: ["staff"] }))).toBe(false);
    expect(await mayUse({ allowGroups: [] }, userOf("alice"))).toBe(false);
    expect(
      await mayUse({ allowUsers: [], allowGroups: ["staff"] }, userOf("a", { groups: ["staff"] })),
    ).toBe(true);
  });

  it("does not take a user for a group of the same name", async () => {
    expect(await mayUse({ allowGroups: ["alice"] }, userOf("alice"))).toBe(false);
    expect(await mayUse({ allowUsers: ["staff"] }, userOf("bob", { groups: ["staff"] }))).toBe(
      false,
    );
  });

  it("refuses a group it does not know", async () => {
    const authorizer = allowListAuthorizer({}, { groups: [], roles: [] });
    expect(await authorizer.mayUse(userOf("alice"), "constructor", signal)).toBe(false);
  });

  it("lets operators by group or role cancel for others, and nobody else", async () => {
    const authorizer = allowListAuthorizer({}, { groups: ["ops"], roles: ["operator"] });
    const may = (of: { groups?: string[]; roles?: string[] }) =>
      authorizer.mayCancel(userOf("a", of), "g");
    expect(await may({ groups: ["ops"] })).toBe(true);
    expect(await may({ roles: ["operator"] })).toBe(true);
    expect(await may({ groups: ["operator"], roles: ["ops"] })).toBe(false);
  });
});

function mayUse(
  authorization: { allowUsers?: string[]; allowGroups?: string[] } | undefined,
  user: AuthContext,
) {
  const authorizer = allowListAuthorizer({ g: { authorization } }, { groups: [], roles: [] });
  return authorizer.mayUse(user, "g", signal);
}

function userOf(user: string, more: Partial<AuthContext> = {}): AuthContext {
  return { user, groups: [], roles: [], method: "static", ...more };
}
