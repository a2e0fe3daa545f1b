/** The image's instructions, the compose file and the unit of systemd, as far as they can be judged without running them. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { exitCode } from "@gateway/gateway/command/terminal.ts";
import { parseConfig } from "@gateway/gateway/config/load.ts";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import {
  frontendPorts,
  healthCommand,
  imageFolder,
  relayPort,
  startCommand,
} from "../../infra/gatewayConfig.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

describe("the image", () => {
  const text = read("Dockerfile");
  const last = text.slice(text.lastIndexOf("\nFROM "));

  it("runs nothing as root and builds nothing in its last stage", () => {
    expect(/^USER (\d+):(\d+)$/m.exec(last)?.slice(1).map(Number)).toEqual([1000, 1000]);
    expect(last).not.toMatch(/^RUN /m);
  });

  it("starts and is asked for its health without a shell", () => {
    for (const word of ["ENTRYPOINT", "CMD"]) expect(last).toMatch(new RegExp(`^${word} \\[`, "m"));
    expect(last).toMatch(/^HEALTHCHECK .* CMD \[/m);
  });

  it("names the ports that a gateway has by default", () => {
    const [, ports = ""] = /^EXPOSE (.*)$/m.exec(last) ?? [];
    expect(ports.split(" ").map(Number)).toEqual([
      ...Object.values(frontendPorts),
      9000,
      relayPort,
    ]);
  });

  it("has the programs that a deployment to AWS starts in it", () => {
    expect(last).toContain(`\nCOPY --from=build ${imageFolder.replace("/bin", "")} `);
    const words = [...healthCommand, ...startCommand].join(" ");
    const programs = [...words.matchAll(/\/app\/bin\/(\S+)/g)].map(([, name = ""]) => name);
    expect(programs).toHaveLength(2);
    const packing = read("packages/gateway/bin/package.mjs");
    for (const name of programs) expect(packing).toContain(`"${name}"`);
  });

  it("takes from a checkout what it lists, so that nothing secret gets in", () => {
    const lines = read(".dockerignore")
      .split("\n")
      .filter((line) => line !== "" && line[0] !== "#");
    expect(lines[0]).toBe("*");
    const taken = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
    expect(taken.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });
});

describe("infra/compose.yaml", () => {
  const service = z.looseObject({
    read_only: z.literal(true),
    cap_drop: z.tuple([z.literal("ALL")]),
    security_opt: z.tuple([z.literal("no-new-privileges:true")]),
    configs: z.tuple([z.looseObject({ source: z.string() })]),
    environment: z.record(z.string(), z.string()),
  });
  const file = z
    .looseObject({
      services: z.looseObject({ control: service, worker: service }),
      configs: z.record(z.string(), z.looseObject({ content: z.string() })),
    })
    .parse(parse(read("infra/compose.yaml"), { merge: true }));

  it.each(["control", "worker"] as const)(
    "gives the %s a config that it takes, and its secrets",
    (name) => {
      const { configs, environment } = file.services[name];
      const text = file.configs[configs[0].source]?.content ?? "";
      // Compose would put a variable of whoever starts it in place of it.
      expect(text).not.toContain("$");
      const parsed = parseConfig(text);
      expect(parsed.ok ? [] : parsed.error).toEqual([]);
      const asked = [...text.matchAll(/env:(\w+)/g)].map(([, variable = ""]) => variable);
      expect(asked.filter((variable) => !(variable in environment))).toEqual([]);
    },
  );

  it("has a control plane that answers to the name by which its worker asks", () => {
    const contentOf = (name: string) => parsedOf(file.configs[name]?.content ?? "").gateway;
    const { hostname } = new URL(contentOf("worker").controlPlane?.url ?? "");
    expect(contentOf("control").adminApi.allowedHosts).toContain(hostname);
  });

  it("has no secret without a value of whoever starts it", () => {
    const values = Object.values(file.services.control.environment);
    const secrets = values.filter((value) => /PASSWORD|KEY|SECRET/.test(value));
    expect(secrets).toHaveLength(3);
    for (const value of secrets) expect(value).toMatch(/\$\{\w+:\?is not set\}/);
  });
});

describe("the unit of systemd", () => {
  const path = fileURLToPath(new URL("infra/systemd/query-gateway.service", root));
  const text = read("infra/systemd/query-gateway.service");
  const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

  it("is not started again with a config that can not work", () => {
    expect(text).toContain(`\nRestartPreventExitStatus=${exitCode.config}\n`);
  });

  it("waits longer than the drain", () => {
    const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]);
    const parsed = parseConfig("{}");
    expect(parsed.ok && parsed.value.gateway.shutdownDrainTimeoutSecs).toBeLessThan(seconds);
  });

  it.skipIf(!hasSystemd)("is one that systemd understands and finds closed (needs systemd)", () => {
    const verified = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
    expect([verified.status, verified.stderr]).toEqual([0, ""]);
    const args = ["security", "--offline=true", "--no-pager", "--threshold=20", path];
    const judged = spawnSync("systemd-analyze", args, { encoding: "utf8" });
    expect([judged.status, judged.stdout.split("\n").at(-2)]).toEqual([0, expect.any(String)]);
  });
});

function parsedOf(text: string) {
  const parsed = parseConfig(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  return parsed.value;
}
