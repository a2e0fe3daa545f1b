import { describe, expect, it } from "vitest";
import { ldapSchema } from "./config.ts";

const people = "ou=people,dc=example,dc=org";

describe("ldapSchema", () => {
  const url = "ldaps://directory.example.com";
  const pathsFor = (more: object): readonly string[] => {
    const parsed = ldapSchema.safeParse({ url, userSearchBase: people, ...more });
    return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join("."));
  };

  it("sends passwords in clear to another machine only when told so", () => {
    expect(pathsFor({})).toEqual([]);
    expect(pathsFor({ url: "ldap://directory.example.com" })).toEqual(["url"]);
    expect(pathsFor({ url: "ldap://directory.example.com", startTls: true })).toEqual([]);
    expect(pathsFor({ url: "ldap://directory.example.com", allowCleartext: true })).toEqual([]);
    expect(pathsFor({ url: "ldap://127.0.0.1:389" })).toEqual([]);
    expect(pathsFor({ startTls: true })).toEqual(["startTls"]);
  });

  it("wants one way to the user, and filters in which a name is one whole value", () => {
    expect(pathsFor({ userDnTemplate: `uid={},${people}` })).toEqual(["userSearchBase"]);
    expect(pathsFor({ bindDn: "cn=a" })).toEqual(["bindPassword"]);
    for (const filter of [
      "(uid=*{}*)",
      "(uid=a)",
      "uid={}",
      "(uid={}",
      "(uid={}))(",
      "(uid=x{})",
    ]) {
      expect([filter, ...pathsFor({ userSearchFilter: filter })]).toContain("userSearchFilter");
    }
    expect(pathsFor({ userSearchFilter: "(&(objectClass=person)(|(uid={})(mail={})))" })).toEqual(
      [],
    );
    expect(pathsFor({ groupSearchFilter: "(|(member={dn})(memberUid={}))" })).toEqual([]);
    expect(pathsFor({ groupSearchFilter: "(cn=all)" })).toEqual(["groupSearchFilter"]);
  });
});
