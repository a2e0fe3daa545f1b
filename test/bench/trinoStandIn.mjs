/** A Trino of two answers for the bench: the state, and one row behind its link. Sends its port to whoever forked it. */
import { createServer } from "node:http";

const stats =
  '{"state":"RUNNING","queued":false,"scheduled":true,"nodes":1,"totalSplits":1,"queuedSplits":0,"runningSplits":1,"completedSplits":0}';
const columns =
  '[{"name":"_col0","type":"integer","typeSignature":{"rawType":"integer","arguments":[]}}]';
let count = 0;

const server = createServer((asked, answer) => {
  asked.resume();
  answer.setHeader("content-type", "application/json");
  if (asked.url === "/v1/info") return answer.end('{"starting":false}');
  if (asked.url === "/v1/query") return answer.end("[]");
  if (asked.method === "DELETE") return answer.writeHead(204).end();
  const { port } = server.address();
  const origin = `http://127.0.0.1:${port}`;
  if (asked.method === "POST") {
    count += 1;
    const link = `${origin}/v1/statement/executing/q${count}/x/0`;
    return answer.end(page(`q${count}`, origin, `"nextUri":"${link}",`));
  }
  const [id] = asked.url.split("/").slice(-3);
  return answer.end(page(id, origin, `"columns":${columns},"data":[[1]],`));
});
// A client that waits for its turn keeps its connection.
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => process.send(server.address().port));

function page(id, origin, what) {
  return `{"id":"${id}","infoUri":"${origin}/ui/query.html?${id}",${what}"stats":${stats},"warnings":[]}`;
}
