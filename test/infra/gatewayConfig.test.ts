/** What the deployment tells containers, read by the gateway itself. */
import { readFileSync } from "node:fs";
import { streamKeepAliveMs, streamSecsMaxFunction } from "@gateway/control/worker/limits.ts";
import { frontends } from "@gateway/frontends/catalog.ts";
import { checkConfig, parseConfig } from "@gateway/gateway/config/load.ts";
import { controlPlaneProblems } from "@gateway/gateway/config/worker.ts";
import { describe, expect, it } from "vitest";
import {
  controlPlaneConfig,
  frontendPorts,
  functionTimeoutSecs,
  startCommand,
  upkeepTimeoutMinutes,
  variables,
  workerConfig,
} from "../../infra/gatewayConfig.ts";

describe("controlPlaneConfig", () => {
  it.each([true, false])("is a config that the gateway takes (rotating: %s)", (rotates) => {
    const rotating = { encryptionKey: rotates, fleetSecret: rotates };
    const settings = { domain: "control.example", range: "10.0.0.0/16", rotating, retention: {} };
    const checked = checkConfig(controlPlaneConfig(settings));
    expect(checked.ok ? [] : checked.error).toEqual([]);
  });

  it("holds references in place of secrets, all of which the container is given", () => {
    const rotating = { encryptionKey: true, fleetSecret: true };
    const settings = { domain: "control.example", range: "10.0.0.0/16", rotating, retention: {} };
    const text = JSON.stringify(controlPlaneConfig(settings));
    const references = [...text.matchAll(/env:(\w+)/g)].map(([, name]) => name);
    const given: readonly string[] = Object.values(variables);
    expect(references).toHaveLength(5);
    expect(references.filter((name) => !given.includes(name ?? ""))).toEqual([]);
  });
});

describe("workerConfig", () => {
  it("holds nothing that belongs to the control plane", () => {
    expect(controlPlaneProblems(workerConfig("https://control.example"), [])).toEqual([]);
  });

  it("serves each protocol on its usual port, with TLS ending in the worker", () => {
    const { gateway } = workerConfig("https://control.example");
    expect(Object.keys(gateway.frontends)).toEqual(Object.keys(frontends));
    for (const [kind, { config }] of Object.entries(frontends)) {
      const written = gateway.frontends[kind];
      const parsed = config.parse(written);
      expect(parsed.port).toBe(config.parse({}).port);
      expect(parsed.tls?.certFile).toMatch(/^\/tmp\//);
    }
    expect(Object.keys(frontendPorts)).toEqual(Object.keys(frontends));
  });
});

describe("startCommand", () => {
  it("writes no secret into a file that others can read", () => {
    const lines = startCommand.at(-1)?.split("\n") ?? [];
    const writes = lines.findIndex((line) => line.startsWith("printf"));
    const limits = lines.indexOf("umask 077");
    expect(limits).toBeGreaterThanOrEqual(0);
    expect(limits).toBeLessThan(writes);
  });
});

describe("upkeepTimeoutMinutes", () => {
  it("is longer than a sweep", () => {
    const entry = new URL("../../packages/gateway/src/entry/upkeep.ts", import.meta.url);
    const [, minutes] = /sweepMs = (\d+) \* 60_000/.exec(readFileSync(entry, "utf8")) ?? [];
    expect(upkeepTimeoutMinutes).toBeGreaterThan(Number(minutes));
  });
});

describe("functionTimeoutSecs", () => {
  it("leaves a stream time to end by itself", () => {
    expect(functionTimeoutSecs).toBeGreaterThan(streamSecsMaxFunction + streamKeepAliveMs / 1_000);
  });
});

describe("dev.yaml", () => {
  it("is a config that the gateway takes", () => {
    const file = new URL("../../infra/dev.yaml", import.meta.url);
    const checked = parseConfig(readFileSync(file, "utf8"));
    expect(checked.ok ? [] : checked.error).toEqual([]);
  });
});
