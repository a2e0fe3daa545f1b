/** Opens the Snowflake listener. */
import type { ListenPolled } from "../listener/elsewhere.ts";
import { listenHttp, requestMs, stalledMs } from "../listener/http/listener.ts";
import { HttpPeers } from "../listener/http/peer.ts";
import type { SnowflakeConfig } from "./config.ts";
import { failed } from "./page/answers.ts";
import { Requests } from "./requests.ts";

/** Session tokens are short; those of the SQL API come from an identity provider. */
const headerBytesMax = 32 * 1024;

/** Opens the listener on its address. */
export const listen: ListenPolled<SnowflakeConfig> = (config, door, host, elsewhere) => {
  const peers = new HttpPeers(config);
  const requests = new Requests(config, door, host, { peers, elsewhere });
  return listenHttp({
    kind: "snowflakeHttp",
    config,
    host,
    peers,
    headerBytesMax,
    requestMs,
    stalledMs,
    answer: (request, response) => requests.handle(request, response),
    refusal: (error) => ({ type: "application/json", body: JSON.stringify(failed(error)) }),
    relayed: (asked) => void requests.relayed(asked),
    drain: (deadline) => requests.drain(deadline),
    close: () => requests.close(),
  });
};
