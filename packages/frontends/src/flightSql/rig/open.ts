/** An open Flight SQL listener over a scripted door, and clients of it. */
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { suiteHost, type SuiteHost } from "../../rig/host.ts";
import { scriptedDoor, type Script, type ScriptedDoor } from "../../rig/scriptedDoor.ts";
import type { Carrier, RelayedRequest } from "../../listener/elsewhere.ts";
import { flightConfig } from "../config.ts";
import { listen } from "../listen.ts";
import { FlightClient, type FlightLogin } from "./client.ts";

export interface OpenFlight extends AsyncDisposable {
  readonly port: number;
  readonly door: ScriptedDoor;
  readonly host: SuiteHost;
  client(login?: FlightLogin): Promise<FlightClient>;
  drain(deadline: AbortSignal): Promise<void>;
  /** Answers what another gateway's client sent. */
  relayed(asked: RelayedRequest): void;
  /** Closes it; throws the first bug that it logged. */
  done(): Promise<void>;
}

/** What makes a gateway one of a fleet. */
export interface OfFleet {
  readonly key: Uint8Array;
  readonly carrier: Carrier;
}

/** Opens one on a free port; `own` changes its door. */
export async function openFlight(
  script: Script,
  config: Partial<ListenerConfig> = {},
  own: (door: ScriptedDoor) => ScriptedDoor = (door) => door,
  fleet?: OfFleet,
): Promise<OpenFlight> {
  const host = { ...suiteHost(), fleetKeys: fleet && (() => [fleet.key]) };
  const door = own(scriptedDoor({ clock: host.clock, ...script }));
  const parsed = flightConfig.parse({ host: "127.0.0.1", port: 0, ...config });
  const opened = await listen(parsed, door, host, fleet?.carrier);
  if (!opened.ok) throw new Error(opened.error.detail);
  const { port } = opened.value;
  const clients: FlightClient[] = [];
  const close = async (): Promise<void> => {
    for (const client of clients) client.destroy();
    await opened.value.drain(AbortSignal.abort());
  };
  return {
    port,
    door,
    host,
    client: async (login = { user: "ann" }) => {
      const client = await FlightClient.connect(port, login);
      clients.push(client);
      return client;
    },
    drain: (deadline) => opened.value.drain(deadline),
    relayed: (asked) => opened.value.relayed?.(asked),
    done: async () => {
      await close();
      for (const bug of host.log.bugs) throw new Error("a bug was logged", { cause: bug });
    },
    [Symbol.asyncDispose]: close,
  };
}

/** The error that something is refused with. */
export async function refusalOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error("it was not refused");
}
