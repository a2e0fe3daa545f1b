/** Opens the MCP listener. */
import type { Carrier, ListenPolled } from "../listener/elsewhere.ts";
import { listenHttp, requestMs, stalledMs } from "../listener/http/listener.ts";
import { HttpPeers } from "../listener/http/peer.ts";
import type { McpConfig } from "./config.ts";
import { refusalBody } from "./errors.ts";
import { Requests } from "./requests.ts";

/** Tokens of identity providers are the longest headers there are. */
const headerBytesMax = 32 * 1024;

/** Opens the listener on its address. */
export const listen: ListenPolled<McpConfig, Carrier> = (config, door, host, elsewhere) => {
  const peers = new HttpPeers(config);
  const requests = new Requests(config, door, host, { peers, elsewhere });
  return listenHttp({
    kind: "mcp",
    config,
    host,
    peers,
    headerBytesMax,
    requestMs,
    // A call may wait in silence for as long as the config lets it.
    stalledMs: Math.max(stalledMs, config.maxWaitSecs * 1000 + requestMs),
    answer: (request, response) => requests.handle(request, response),
    refusal: (error) => ({ type: "application/json", body: refusalBody(error) }),
    relayed: (asked) => void requests.relayed(asked),
    drain: (deadline) => requests.drain(deadline),
    close: () => requests.close(),
  });
};
