import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { checkConfig } from "./load.ts";
import { lineOf } from "@gateway/control/config/check/report.ts";
import { resolveSecrets } from "./secrets.ts";

const folder = mkdtempSync(join(tmpdir(), "gateway-secrets-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("resolveSecrets", () => {
  it("takes a secret from the environment", () => {
    expect(hashesIn(usersOf({ ann: "env:ANN" }), { ANN: hash })).toEqual({ ann: hash });
  });

  it("takes a secret from a file, without the line's end", () => {
    const file = fileOf("hash", `${hash}\n`);
    expect(hashesIn(usersOf({ ann: `file:${file}` }))).toEqual({ ann: hash });
  });

  it("leaves everything else as it was written", () => {
    const input = { ...usersOf({}), routers: [1, null, "a", { b: [] }], clusters: { a: {} } };
    expect(resolveSecrets(input, {})).toEqual({ ok: true, value: input });
  });

  it("names every reference that leads nowhere", () => {
    const gone = join(folder, "gone");
    const input = usersOf({
      ann: "env:UNSET",
      bob: "env:EMPTY",
      cid: `file:${gone}`,
      dan: `file:${fileOf("empty", "\n")}`,
      eve: `file:${fileOf("large", "x".repeat(70_000))}`,
      fay: "env:toString",
    });
    const at = (name: string): string => `auth.staticUsers.users.${name}.passwordHash`;
    expect(linesFor(input, { EMPTY: "" })).toEqual([
      `${at("ann")}: the environment variable UNSET is not set`,
      `${at("bob")}: the environment variable EMPTY is not set`,
      `${at("cid")}: ${gone} can not be read (ENOENT)`,
      `${at("dan")}: ${join(folder, "empty")} is empty`,
      `${at("eve")}: ${join(folder, "large")} is larger than 65536 bytes`,
      `${at("fay")}: the environment variable toString is not set`,
    ]);
  });

  it("expands nothing in a place that holds no secret", () => {
    const group = { members: ["a"], maxRunningQueries: 1, defaultTags: { secretRef: "env:ANN" } };
    const input = { clusterGroups: { g: group }, auth: { provider: "none" } };
    expect(resolveSecrets(input, { ANN: hash })).toEqual({ ok: true, value: input });
  });

  it("does not take an object with more keys for a reference", () => {
    const users = { ann: { passwordHash: { secretRef: "env:ANN", extra: 1 } } };
    const input = { auth: { provider: "static", staticUsers: { users } } };
    expect(resolveSecrets(input, { ANN: hash })).toEqual({ ok: true, value: input });
  });

  it("leaves a resolved value that is no hash to the check, which does not repeat it", () => {
    const resolved = resolveSecrets(usersOf({ ann: "env:ANN" }), { ANN: "hunter2" });
    const checked = checkConfig(resolved.ok ? resolved.value : undefined);
    expect(checked.ok ? [] : checked.error.map(lineOf)).toEqual([
      "auth.staticUsers.users.ann.passwordHash: must be a bcrypt hash; make one with `gateway hash-password`",
    ]);
  });
});

const hash = `$2b$10$${"a".repeat(53)}`;

function usersOf(references: Readonly<Record<string, string>>) {
  const users = Object.fromEntries(
    Object.entries(references).map(([name, secretRef]) => [name, { passwordHash: { secretRef } }]),
  );
  return { auth: { provider: "static", staticUsers: { users } } };
}

type Environment = Readonly<Record<string, string>>;

function hashesIn(input: unknown, environment: Environment = {}): unknown {
  const resolved = resolveSecrets(input, environment);
  const config = checkConfig(resolved.ok ? resolved.value : undefined);
  if (!config.ok || config.value.auth?.provider !== "static") return undefined;
  const { users } = config.value.auth.staticUsers;
  return Object.fromEntries(Object.entries(users).map(([name, user]) => [name, user.passwordHash]));
}

function linesFor(input: unknown, environment: Environment): readonly string[] {
  const resolved = resolveSecrets(input, environment);
  return resolved.ok ? [] : resolved.error.map(lineOf);
}

function fileOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
