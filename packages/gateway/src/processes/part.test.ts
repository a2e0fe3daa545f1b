import { expect, test } from "vitest";
import { checkConfig } from "../config/load.ts";
import { configOfPart } from "./part.ts";

const gateway = {
  role: "worker",
  workerName: "w",
  stateDir: "/state",
  processes: 2,
  frontends: { postgresWire: { host: "127.0.0.1", port: 5432 } },
  controlPlane: { url: "https://control:9000", auth: { sharedSecret: "x".repeat(40) } },
};

function part(more: object, index = 1) {
  const config = checkConfig({ gateway: { ...gateway, ...more } });
  if (!config.ok) throw new Error(JSON.stringify(config.error));
  return configOfPart(config.value, { index, count: 2 }).gateway;
}

test("name and folder are each process's own; they reach each other on this machine", () => {
  expect(part({})).toMatchObject({
    workerName: "w.2",
    stateDir: "/state/2",
    relay: { host: "127.0.0.1", port: 0 },
  });
});

test("relays of a fleet have ports in a row, as they are told to others", () => {
  const relay = { host: "0.0.0.0", port: 9001, advertise: "w.internal:19001" };
  expect(part({ relay }).relay).toEqual({
    host: "0.0.0.0",
    port: 9002,
    advertise: "w.internal:19002",
  });
  expect(part({ relay: { ...relay, advertise: "10.0.0.7" } }).relay).toMatchObject({
    advertise: "10.0.0.7",
  });
});

test("what several processes can not keep is refused", () => {
  const problems = (more: object) => {
    const checked = checkConfig({ gateway: { ...gateway, ...more } });
    return checked.ok ? [] : checked.error.map(({ path, reason }) => `${path}: ${reason}`);
  };
  expect(problems({ coordination: { mode: "local" } })).toEqual([
    "gateway.coordination.mode: must be controlPlane with several processes: limits would hold in each alone",
  ]);
  expect(problems({ frontends: { mysqlWire: { host: "127.0.0.1", port: 0 } } })).toEqual([
    "gateway.frontends.mysqlWire.port: must not be 0 with several processes: they share it",
  ]);
  expect(problems({ processes: 0 })).toHaveLength(1);
});
