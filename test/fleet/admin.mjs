/** The admin API of a control plane, as its first administrator uses it. */
import { patience } from "./wait.mjs";

const answerMs = 30_000;
const pageSize = 1000;

export function adminAt(url, password, name = "root") {
  const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;

  async function ask(method, path, body, headers = {}) {
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, {
      method,
      // One that was kept may be closed by the other side in the moment it is used.
      headers: { authorization, connection: "close", ...json, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerMs * patience),
    });
    const text = await response.text();
    const isJson = (response.headers.get("content-type") ?? "").includes("json") && text !== "";
    const etag = response.headers.get("etag");
    return { status: response.status, etag, body: isJson ? JSON.parse(text) : text };
  }

  async function got(path) {
    const { status, body } = await ask("GET", path);
    if (status !== 200) throw new Error(`${path} answers ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  async function all(path) {
    const items = [];
    let cursor;
    do {
      const after = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await got(`${path}?limit=${pageSize}${after}`);
      items.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return items;
  }

  return {
    ask,
    got,
    /** Every item of a list. */
    all,
    /** Puts fields over those of the group; answers the revision that follows. */
    async editGroup(fields) {
      const { body, etag } = await ask("GET", "/admin/groups/default");
      const group = { ...body.body, ...fields };
      const put = await ask("PUT", "/admin/groups/default", group, { "if-match": etag });
      if (put.status !== 200) throw new Error(`${put.status}: ${JSON.stringify(put.body)}`);
      return put.body.revision;
    },
  };
}
