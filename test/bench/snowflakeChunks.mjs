/** Rows of Arrow as drivers of Snowflake download them: a statement, and the chunks that its answer names, one after the other. */
import { spread } from "./figures.mjs";

const wanted = 1_000_000;

/** `sql` of so many rows. The server keeps a result before it answers, so both parts are told. */
export async function snowflakeChunks(port, sql, rounds) {
  const url = `http://127.0.0.1:${port}`;
  const post = async (path, body, token) => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/snowflake",
        ...(token && { authorization: `Snowflake Token="${token}"` }),
      },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (!answer.success) throw new Error(answer.message);
    return answer.data;
  };
  const login = { LOGIN_NAME: "bench", PASSWORD: "x", CLIENT_APP_ID: "PythonConnector" };
  const { token } = await post("/session/v1/login-request", { data: login });
  const [rates, speeds] = [[], []];
  for (let round = 0; round <= rounds; round += 1) {
    const from = performance.now();
    const asked = { sqlText: sql(wanted), asyncExec: false };
    const data = await post(`/queries/v1/query-request?requestId=${round}`, asked, token);
    const answered = performance.now();
    let bytes = 0;
    let rows = 0;
    for (const { url: at, rowCount } of data.chunks) {
      bytes += (await (await fetch(at, { headers: data.chunkHeaders ?? {} })).arrayBuffer())
        .byteLength;
      rows += rowCount;
    }
    if (rows < wanted / 2) throw new Error(`${rows} rows in chunks`);
    const over = performance.now();
    if (round === 0) continue;
    rates.push(bytes / 1e3 / (over - answered));
    speeds.push((wanted / (over - from)) * 1e3);
  }
  return {
    what: `${wanted / 1e6} M rows × 6 in chunks of Arrow, Snowflake`,
    "MB/s": spread(rates, 0),
    "rows/s": spread(speeds, 0),
  };
}
