/**
 * An engine that keeps a log of its own: a Trino coordinator as its protocol wants it, whose statements
 * take the time that they name and answer one row. What ran beside what is judged from its log.
 */
import { createServer } from "node:http";

const statementPath = "/v1/statement";
/** How long a question about a statement that still runs is held. */
const holdMs = 50;

/** Starts one on a free port of an address of this machine. A statement runs as long as a text in it says: `select '120 ms'`. */
export async function startEngine(fleet, address = "127.0.0.1") {
  const engine = new Engine();
  await engine.listen(address);
  fleet.defer(() => engine.close());
  return engine;
}

class Engine {
  url = "";
  /** Statements of clients: text, user, and when each began and ended, milliseconds of this process. */
  statements = [];
  /** Put over the time of each statement that begins. */
  slowMs = 0;
  /** Answers to drills that are yet to be wrong. */
  #lies = 0;
  #server = createServer((request, response) => {
    void this.#handle(request, response).catch(() => response.destroy());
  });

  async listen(address, port = 0) {
    await new Promise((resolve) => {
      this.#server.listen(port, address, resolve);
    });
    this.url = `http://${address}:${this.#server.address().port}`;
  }

  close() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  /** As a process that is killed and started again: what ran is over, and nobody knows of it any more. */
  async restart() {
    const { hostname, port } = new URL(this.url);
    await this.close();
    for (const statement of this.statements) {
      statement.end();
      statement.gone = true;
    }
    await this.listen(hostname, Number(port));
  }

  /** The next answer to a drill is not what was asked for. */
  lie() {
    this.#lies = 1;
  }

  get running() {
    return this.statements.filter(({ untilMs }) => untilMs === undefined).length;
  }

  async #handle(request, response) {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const { method, url: path } = request;
    if (path === "/v1/info") return answer(response, { starting: false });
    if (path === "/v1/query") return answer(response, this.#list());
    if (method === "POST" && path === statementPath) {
      const sql = Buffer.concat(pieces).toString("utf8");
      return answer(response, this.#begin(sql, request.headers));
    }
    const statement = this.statements[Number(/\/q(\d+)(?:\/|$)/.exec(path)?.[1])];
    if (statement === undefined || statement.gone) return response.writeHead(404).end();
    if (method === "DELETE") {
      if (statement.untilMs === undefined) statement.cancelled = true;
      statement.end();
      return response.writeHead(204).end();
    }
    await Promise.race([statement.ended, held()]);
    return answer(response, this.#page(statement));
  }

  #list() {
    return this.statements
      .filter(({ gone }) => !gone)
      .map(({ id, tags, untilMs }) => ({
        queryId: `q${id}`,
        state: untilMs === undefined ? "RUNNING" : "FINISHED",
        session: { clientTags: tags },
      }));
  }

  #begin(sql, headers) {
    const { promise: ended, resolve } = deferred();
    const statement = {
      id: this.statements.length,
      sql,
      user: headers["x-trino-user"],
      tags: (headers["x-trino-client-tags"] ?? "").split(","),
      fromMs: performance.now(),
      untilMs: undefined,
      cancelled: false,
      ended,
      pages: 0,
    };
    const runMs = this.slowMs + Number(/'(\d+) ms/.exec(sql)?.[1] ?? 0);
    const timer = setTimeout(() => statement.end(), runMs);
    statement.end = () => {
      clearTimeout(timer);
      statement.untilMs ??= performance.now();
      resolve();
    };
    this.statements.push(statement);
    return this.#page(statement);
  }

  #cellOf(mark) {
    if (mark === undefined) return 1;
    if (this.#lies === 0) return mark;
    this.#lies -= 1;
    return `${mark}x`;
  }

  #page(statement) {
    const { id, sql, untilMs, cancelled } = statement;
    if (cancelled) return { id: `q${id}`, stats: { state: "FAILED", queued: false }, error };
    const stats = { state: untilMs === undefined ? "RUNNING" : "FINISHED", queued: false };
    if (untilMs === undefined) {
      statement.pages += 1;
      const nextUri = `${this.url}${statementPath}/executing/q${id}/y1/${statement.pages}`;
      return { id: `q${id}`, nextUri, stats };
    }
    const mark = markOf(sql);
    const type = mark === undefined ? "integer" : "varchar";
    const typeSignature = { rawType: type, arguments: [] };
    const columns = [{ name: "one", type, typeSignature }];
    return { id: `q${id}`, columns, data: [[this.#cellOf(mark)]], stats };
  }
}

/** What a statement of a drill wants to have back. */
function markOf(sql) {
  return /^select '(drill_\w+)'/.exec(sql)?.[1];
}

/** Of a statement that somebody ended. */
const error = {
  message: "Query was canceled",
  errorCode: 3,
  errorName: "USER_CANCELED",
  errorType: "USER_ERROR",
};

/** The most statements that ran at once. One that never ended runs until now. */
export function mostAtOnce(statements) {
  const now = performance.now();
  const changes = statements.flatMap(({ fromMs, untilMs = now }) => [
    [fromMs, 1],
    [untilMs, -1],
  ]);
  // An end and a begin in the same moment are no overlap.
  changes.sort(([a, one], [b, other]) => a - b || one - other);
  let running = 0;
  let most = 0;
  for (const [, change] of changes) most = Math.max(most, (running += change));
  return most;
}

function answer(response, json) {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(json));
}

function held() {
  return new Promise((resolve) => {
    setTimeout(resolve, holdMs);
  });
}

function deferred() {
  let resolve;
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
