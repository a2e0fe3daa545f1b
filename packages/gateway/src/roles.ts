/**
 * The composition root: which parts each role is made of. Nothing is decided here.
 *
 *              config from   capacity   history   serves
 * standalone   file          local      memory    queries, operations
 */
import { localCapacity } from "@gateway/core/capacity/local.ts";
import type { Result } from "@gateway/core/result.ts";
import { Generations } from "@gateway/core/snapshot/generation.ts";
import type { Contents } from "@gateway/engines/descriptor.ts";
import type { RootConfig } from "./config/schema.ts";
import { startDataPlane } from "./dataPlane.ts";
import { openGeneration } from "./generation.ts";
import { memoryHistory } from "./history.ts";
import type { NodeHost } from "./host/node.ts";
import { startOps, together, type Running, type StartError } from "./running.ts";

/** Starts the role of the config. Answers everything that could not be opened, with nothing left open. */
export async function start(
  config: RootConfig,
  host: NodeHost,
  contents: Contents = { kind: "none" },
): Promise<Result<Running, readonly StartError[]>> {
  const capacity = localCapacity(host);
  const generations = new Generations();
  const generation = await openGeneration(config, { host, capacity, contents });
  if (!generation.ok) return generation;
  await generations.swap(generation.value);

  const history = memoryHistory(host, config.gateway.logLevel === "debug");
  const made = { generations, capacity, history, stopping: new AbortController() };
  const data = await startDataPlane(made, config.gateway, host);
  const ops = await startOps(made, config.gateway, host);
  return together({ data, ops, generations, history });
}
