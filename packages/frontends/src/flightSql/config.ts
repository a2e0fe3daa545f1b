/** Config of the Flight SQL frontend: the fields every listener has, with Flight's port. */
import { listenerShape } from "@gateway/contract/config/listener.ts";
import { z } from "zod";

const defaultPort = 50_051;
const defaultMessageBytes = 16 * 1024 * 1024;

export const flightConfig = z
  .strictObject(listenerShape(defaultPort, defaultMessageBytes))
  .meta({ title: "Flight SQL", description: "Arrow Flight SQL over gRPC." });

export type FlightConfig = z.output<typeof flightConfig>;
