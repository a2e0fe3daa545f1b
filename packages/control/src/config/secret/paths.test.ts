import type { Json } from "@gateway/contract/canonical.ts";
import { notBuiltVariant } from "@gateway/contract/config/rig/notBuilt.ts";
import { secretSchema } from "@gateway/contract/config/secret.ts";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonSchema } from "../keys.ts";
import { fileJsonSchema } from "../fileJsonSchema.ts";
import { mapSecrets, valuesUnder } from "./paths.ts";

describe("mapSecrets", () => {
  it("finds the secret of the member that a discriminator chose", () => {
    expect(secretsIn({ clusters: { a: { engine: "server", password: "x", name: "y" } } })).toEqual([
      "clusters.a.password",
    ]);
  });

  it("finds the secrets of every member while none is chosen", () => {
    expect(secretsIn({ clusters: { a: { password: "x", token: "y" } } })).toEqual([
      "clusters.a.password",
      "clusters.a.token",
    ]);
  });

  it("takes each entry of a list of secrets, and a single one, by itself", () => {
    expect(secretsIn({ keys: ["a", { secretRef: "env:A" }] })).toEqual(["keys.0", "keys.1"]);
    expect(secretsIn({ keys: "a" })).toEqual(["keys"]);
  });

  it("takes a value that nothing describes for a secret", () => {
    expect(secretsIn({ later: 1, clusters: { a: { engine: "file", more: ["x"] } } })).toEqual([
      "later?",
      "clusters.a.more?",
    ]);
  });

  it("takes what is in a part that is not built for a secret", () => {
    expect(secretsIn({ clusters: { a: { engine: "later", password: "x" } } })).toEqual([
      "clusters.a?",
    ]);
  });

  it("is not misled by a tag that has the name of a secret", () => {
    expect(secretsIn({ tags: { password: "x", secretRef: "y" } })).toEqual([]);
  });

  it("leaves everything else as it is", () => {
    const value = { tags: { a: "b" }, clusters: { a: { engine: "file", path: null } }, list: [1] };
    expect(mapSecrets(schema, value, () => "[secret]")).toEqual(value);
  });

  it("finds the secrets of the configuration itself", () => {
    const users = { ann: { passwordHash: "x", groups: ["y"] } };
    const found: string[] = [];
    const file: Json = {
      auth: { provider: "static", staticUsers: { users } },
      gateway: { workerApi: { history: { endpoint: "https://a.b", auth: { bearer: "z" } } } },
    };
    mapSecrets(fileJsonSchema(), file, (value, path) => {
      found.push(path.join("."));
      return value;
    });
    expect(found).toEqual([
      "auth.staticUsers.users.ann.passwordHash",
      "gateway.workerApi.history.auth.bearer",
    ]);
  });
});

describe("valuesUnder", () => {
  const keys = new Set(["url", "tls"]);

  it("finds values by the name of their key, at any depth", () => {
    const value = { clusters: { a: { engine: "server", url: "x", tls: { url: "y" } } } };
    expect(valuesUnder(schema, value, keys)).toEqual([
      { path: ["clusters", "a", "url"], value: "x" },
      { path: ["clusters", "a", "tls"], value: { url: "y" } },
    ]);
  });

  it("does not take a name that somebody chose for such a key", () => {
    expect(valuesUnder(schema, { tags: { url: "x" }, clusters: { url: {} } }, keys)).toEqual([]);
  });
});

/** Paths of the secrets; `?` marks those that are only not described. */
function secretsIn(value: Json): readonly string[] {
  const found: string[] = [];
  mapSecrets(schema, value, (secret, path, described) => {
    found.push(path.join(".") + (described ? "" : "?"));
    return secret;
  });
  return found;
}

const schema = z.toJSONSchema(
  z.strictObject({
    clusters: z.record(
      z.string(),
      z.discriminatedUnion("engine", [
        z.strictObject({
          engine: z.literal("server"),
          name: z.string(),
          url: z.string(),
          tls: z.strictObject({ url: z.string() }),
          password: secretSchema,
        }),
        z.strictObject({
          engine: z.literal("file"),
          path: z.string().nullable(),
          token: secretSchema,
        }),
        notBuiltVariant("engine", "later", "the engine later"),
      ]),
    ),
    keys: z.union([secretSchema, z.array(secretSchema)]),
    tags: z.record(z.string(), z.string()),
    list: z.array(z.number()),
  }),
  { io: "input", unrepresentable: "any" },
) as JsonSchema;
