/** A ClickHouse for the bench that answers one row, and its health check. Sends its port to whoever forked it. */
import { createServer } from "node:http";

const server = createServer((asked, answer) => {
  let sql = "";
  asked.on("data", (chunk) => {
    sql += chunk;
  });
  asked.on("end", () => {
    // A health check wants the engine's own format, and takes another one for a fault.
    const isStatement = sql.endsWith("select 1");
    answer.setHeader("X-ClickHouse-Format", isStatement ? "TabSeparated" : "Native");
    answer.end(isStatement ? "1\n" : undefined);
  });
});
// A client that waits for its turn keeps its connection.
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
