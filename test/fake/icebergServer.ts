/**
 * A REST catalog after Iceberg's own description (rest-catalog-open-api.yaml): getConfig, loadTable and loadView with
 * their errors, over tables in memory. It can misbehave on command.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type IcebergMood = "well" | "silent" | "nonsense" | "failing" | "redirecting" | "huge";

export class FakeIcebergServer implements AsyncDisposable {
  readonly #server = createServer((request, response) => this.#answer(request, response));
  /** Columns by namespace and name, as they stand in the path. */
  tables: Record<string, readonly string[]> = {};
  views: Record<string, readonly string[]> = {};
  /** Whole metadata of tables and views, in place of what is made of columns. */
  metadata: Record<string, object> = {};
  prefix: string | undefined;
  /** Of the answer about a view that there is not. */
  viewStatus = 404;
  mood: IcebergMood = "well";
  readonly asked: string[] = [];
  readonly authorizations: (string | undefined)[] = [];

  static async start(): Promise<FakeIcebergServer> {
    const fake = new FakeIcebergServer();
    await new Promise<void>((resolve) => {
      fake.#server.listen(0, "127.0.0.1", resolve);
    });
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/iceberg`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeAllConnections();
    await closed;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "";
    this.asked.push(path);
    this.authorizations.push(request.headers.authorization);
    switch (this.mood) {
      case "silent":
        return;
      case "nonsense":
        return void response.end('{"metadata":{"schemas":[]},"defaults":1}');
      case "failing":
        return void response.writeHead(503).end("{}");
      case "redirecting":
        return void response.writeHead(307, { location: `${this.url}/elsewhere` }).end();
      case "huge":
        return void response.end(JSON.stringify({ more: "x".repeat(2 << 20) }));
      case "well":
        return this.#well(path, response);
    }
  }

  #well(path: string, response: ServerResponse): void {
    const { prefix } = this;
    if (path.startsWith("/iceberg/v1/config")) {
      const overrides = prefix === undefined ? {} : { prefix };
      return void response.end(JSON.stringify({ defaults: {}, overrides }));
    }
    const root = `/iceberg/v1/${prefix === undefined ? "" : `${prefix}/`}namespaces/`;
    const [, place = "", kind = "", name = ""] =
      new RegExp(`^${root}([^/]+)/(tables|views)/([^/?]+)`).exec(path) ?? [];
    const whole = this.metadata[`${kind}/${place}.${name}`];
    if (whole !== undefined) return void response.end(JSON.stringify({ metadata: whole }));
    const columns =
      kind === "views" ? this.views[`${place}.${name}`] : this.tables[`${place}.${name}`];
    if (columns === undefined) {
      const type = kind === "views" ? "NoSuchViewException" : "NoSuchTableException";
      const error = { message: "it does not exist", type, code: 404 };
      const status = kind === "views" ? this.viewStatus : 404;
      return void response.writeHead(status).end(JSON.stringify({ error }));
    }
    response.end(
      JSON.stringify({ metadata: kind === "views" ? viewOf(columns) : tableOf(columns) }),
    );
  }
}

function schemasOf(columns: readonly string[]) {
  const fields = columns.map((name, index) => ({
    id: index + 1,
    name,
    type: "string",
    required: false,
  }));
  // An older schema stands in front, which counts no more.
  return [
    {
      type: "struct",
      "schema-id": 0,
      fields: [{ id: 1, name: "old", type: "int", required: true }],
    },
    { type: "struct", "schema-id": 3, fields },
  ];
}

function tableOf(columns: readonly string[]) {
  return {
    "format-version": 2,
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    location: "s3://bucket/table",
    schemas: schemasOf(columns),
    "current-schema-id": 3,
    snapshots: [],
  };
}

function viewOf(columns: readonly string[]) {
  const version = (id: number, schema: number) => ({
    "version-id": id,
    "schema-id": schema,
    "timestamp-ms": 0,
    summary: {},
    representations: [],
    "default-namespace": ["sales"],
  });
  return {
    "view-uuid": "fa6506c3-7681-40c8-86dc-e36561f83385",
    "format-version": 1,
    location: "s3://bucket/view",
    "current-version-id": 2,
    versions: [version(1, 0), version(2, 3)],
    "version-log": [],
    schemas: schemasOf(columns),
  };
}
