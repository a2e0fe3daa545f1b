/**
 * A Unity Catalog after the open-source server's own description (api/all.yaml: getTable, TableInfo, ColumnInfo) with
 * its answer for what is not there, over tables in memory. It can misbehave on command.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type UnityMood = "well" | "silent" | "nonsense" | "failing" | "elsewhere" | "huge";

export interface UnityTable {
  readonly type: string;
  /** Types by column. */
  readonly columns: Readonly<Record<string, string>>;
}

export class FakeUnityServer implements AsyncDisposable {
  readonly #server = createServer((request, response) => this.#answer(request, response));
  /** By the whole name. */
  tables: Record<string, UnityTable> = {};
  mood: UnityMood = "well";
  readonly asked: string[] = [];
  readonly authorizations: (string | undefined)[] = [];

  static async start(): Promise<FakeUnityServer> {
    const fake = new FakeUnityServer();
    await new Promise<void>((resolve) => {
      fake.#server.listen(0, "127.0.0.1", resolve);
    });
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
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
        return void response.end('{"name":"orders","columns":7}');
      case "failing":
        return void response.writeHead(503).end("{}");
      case "elsewhere":
        // A proxy that knows no such address.
        return void response.writeHead(404).end("<html></html>");
      case "huge":
        return void response.end(JSON.stringify({ more: "x".repeat(2 << 20) }));
      case "well":
        return this.#well(path, response);
    }
  }

  #well(path: string, response: ServerResponse): void {
    const [, name = ""] = /^\/api\/2\.1\/unity-catalog\/tables\/(.+)$/.exec(path) ?? [];
    const whole = decodeURIComponent(name);
    const [catalog_name = "", schema_name = "", table = ""] = whole.split(".");
    const found = this.tables[whole];
    if (found === undefined) {
      const message = `Table not found: ${whole}`;
      return void response
        .writeHead(404)
        .end(JSON.stringify({ error_code: "TABLE_NOT_FOUND", details: [], message }));
    }
    const columns = Object.entries(found.columns).map(([column, type_text], position) => ({
      name: column,
      type_text,
      type_name: type_text.toUpperCase(),
      position,
      nullable: true,
    }));
    // Their order is what `position` says.
    const body = { name: table, catalog_name, schema_name, table_type: found.type };
    response.end(JSON.stringify({ ...body, columns: columns.toReversed(), table_id: "1" }));
  }
}
