/** Opens the ClickHouse listener. */
import { exceptionText } from "@gateway/wire/clickhouse/exception.ts";
import type { ListenPolled } from "../listener/elsewhere.ts";
import { listenHttp, stalledMs } from "../listener/http/listener.ts";
import { HttpPeers } from "../listener/http/peer.ts";
import type { ClickhouseConfig } from "./config.ts";
import { refusalOf } from "./errors.ts";
import { headerBytesMax } from "./limits.ts";
import { Requests } from "./requests.ts";

/** Opens the listener on its address. */
export const listen: ListenPolled<ClickhouseConfig> = (config, door, host) => {
  const peers = new HttpPeers(config);
  const requests = new Requests({ config, door, host, peers });
  return listenHttp({
    kind: "clickhouseHttp",
    config,
    host,
    peers,
    headerBytesMax,
    // Rows of an INSERT may come for as long as their client likes; silence is limited.
    requestMs: 0,
    stalledMs,
    answer: (request, response) => requests.handle(request, response),
    refusal: (error) => {
      const refusal = refusalOf(error);
      return {
        type: "text/plain; charset=UTF-8",
        body: exceptionText(refusal),
        headers: [`X-ClickHouse-Exception-Code: ${refusal.code}`],
      };
    },
    drain: () => requests.drain(),
  });
};
