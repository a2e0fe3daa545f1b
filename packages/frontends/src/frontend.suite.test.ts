/**
 * The shared suite tried on the smallest frontend there can be: one JSON text per line, each way.
 * It shows that the suite can be met; that it can fail is shown by every frontend's first run of it.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { connect as connectTls } from "node:tls";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import type { Door } from "@gateway/core/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Listen } from "@gateway/core/port/frontend.ts";
import { ok } from "@gateway/core/result.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { Secret } from "@gateway/core/secret.ts";
import { cellWriter, postgresText } from "@gateway/core/type/text.ts";
import { isNull, type Vector } from "@gateway/core/type/vector.ts";
import { frontendSuite } from "./frontend.suite.ts";
import { openListener } from "./listener/accept.ts";
import type { Connection } from "./listener/connection.ts";
import { configOf } from "./listener/listener.suite.ts";
import { mayTakeCredentials } from "./listener/tls.ts";
import type { ConnectClient, SuiteAnswer } from "./suite/subject.suite.ts";

type Reply =
  | { readonly kind: "answer"; readonly answer: SuiteAnswer }
  | { readonly kind: "error"; readonly message: string; readonly position?: number | undefined };

/** Lines of a client, at most `maxMessageBytes` each; undefined for a longer one, then nothing. */
async function* linesOf(connection: Connection): AsyncGenerator<string | undefined, void, void> {
  let held = "";
  const chunks = connection.socket.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks as AsyncIterable<Buffer>) {
    held += chunk.toString("utf8");
    for (let end = held.indexOf("\n"); end !== -1; end = held.indexOf("\n")) {
      const line = held.slice(0, end);
      held = held.slice(end + 1);
      yield line.length > connection.config.maxMessageBytes ? undefined : line;
    }
    if (held.length > connection.config.maxMessageBytes) return yield undefined;
  }
}
