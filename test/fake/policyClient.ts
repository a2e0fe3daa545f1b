/** A policy as the configurations of docs/access-control.md open it, at another address. */
import { readFileSync } from "node:fs";
import { accessControlSchema } from "@gateway/contract/config/accessControl.ts";
import { policyOf } from "@gateway/access/policy/open.ts";
import type { TableDecision } from "@gateway/core/port/sql/policy.ts";
import type { TouchedColumns } from "@gateway/core/port/sql/sqlReading.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { sessionOf } from "@gateway/core/rig/session.ts";
import { parse } from "yaml";
import type { AskedBy, AskedOf } from "./policyQuestions.ts";

const text = readFileSync(new URL("../../docs/access-control.md", import.meta.url), "utf8");

/** Blocks of the guide in one language, in their order. */
export function blocksOf(language: "yaml" | "rego"): readonly string[] {
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(
    ([, block = ""]) => block,
  );
}

/** The `accessControl` of the guide for one kind of server. */
export function guidedConfig(by: AskedBy): Readonly<Record<string, unknown>> {
  const parsed = blocksOf("yaml").map(
    (block) => (parse(block) as { accessControl?: Guided }).accessControl,
  );
  const found = parsed.find((one) => (by === "cerbos" ? one?.cerbos : one?.opa?.api === by));
  if (found === undefined) throw new Error(`no configuration for ${by}`);
  return { ...found };
}

interface Guided {
  readonly opa?: { readonly api: string };
  readonly cerbos?: object;
}

export function policyClient(by: AskedBy, url: string, more: object = {}) {
  const host = virtualHost(1);
  const guided = guidedConfig(by);
  const key = by === "cerbos" ? "cerbos" : "opa";
  const config = {
    ...guided,
    settings: ["application_name"],
    [key]: { ...(guided[key] as object), url, ...more },
  };
  const policy = policyOf(accessControlSchema.parse(config), host);
  type Asked = Pick<AskedOf, "groups" | "table" | "action"> & {
    readonly setting?: string;
    readonly columns?: TouchedColumns;
  };
  const ask = async ({ groups, table, action, setting, columns }: Asked) => {
    const identity = {
      user: "ann",
      groups,
      roles: [],
      attributes: { region: "EU" },
      method: "static",
    } as const;
    const settings = new Map(setting === undefined ? [] : [["application_name", setting]]);
    const session = sessionOf({ identity, settings });
    const { signal } = new AbortController();
    return await policy.decide({ session, table, action, columns }, signal);
  };
  return {
    host,
    policy,
    ask,
    /** Lets the virtual time pass that a server takes which does not answer. */
    waiting: async (asked: Asked): Promise<TableDecision> => {
      const watch = { done: false };
      const answer = ask(asked).finally(() => {
        watch.done = true;
      });
      while (!watch.done) await host.advance(10);
      return await answer;
    },
    [Symbol.asyncDispose]: async () => {
      await policy[Symbol.asyncDispose]?.();
    },
  };
}
