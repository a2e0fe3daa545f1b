/** An endpoint of its own for the history of workers: keeps what it takes, and can refuse. */
import { createServer } from "node:http";
import { gunzipSync } from "node:zlib";

/** `records` by id, `count` of all that came, `strangers`: requests with a credential that is not its own. */
export async function startEndpoint(fleet) {
  const endpoint = { refuses: false, refusals: 0, count: 0, strangers: 0, records: new Map() };
  const server = createServer((request, response) => {
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      const headers = JSON.stringify(request.headers);
      if (headers.includes(fleet.secret) || request.headers.authorization) endpoint.strangers += 1;
      if (endpoint.refuses) {
        endpoint.refusals += 1;
        response.writeHead(503).end();
        return;
      }
      for (const record of JSON.parse(gunzipSync(Buffer.concat(pieces))).records) {
        endpoint.count += 1;
        endpoint.records.set(record.proxyQueryId, record);
      }
      response.writeHead(204).end();
    });
  });
  await new Promise((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  fleet.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  endpoint.url = `http://127.0.0.1:${server.address().port}/records`;
  return endpoint;
}
