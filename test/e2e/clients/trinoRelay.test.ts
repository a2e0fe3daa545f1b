/** A client of Trino before a Trino: rows and columns arrive as that wrote them, and its progress with them. */
import type { QueryResults } from "@gateway/wire/trino/results.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeTrino, type FakeTrino } from "../../fake/trino.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "../gateway.ts";

let trino: FakeTrino;
let gateway: TestGateway;

beforeAll(async () => {
  trino = await fakeTrino();
  gateway = await gatewayOf(
    configOf({ clusters: { local: { engine: "trino", endpoint: trino.origin } } }),
  );
}, 30_000);

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await trino[Symbol.asyncDispose]();
});

describe("rows of a Trino", () => {
  it("arrive byte for byte, spaces, escapes and wide numbers included", async () => {
    const first = '[[1,"a\\u00e9\\/b"],[ 12345678901234567890 , {"k":[1.0e0]} ]]';
    trino.answers.set("SELECT odd", () => ({
      columns: [
        ["n", "bigint"],
        ["x", "varchar"],
      ],
      pages: [first, '[[3,"c"]]'].values(),
    }));
    const { text } = await followed("SELECT odd");
    const inside = `${first.slice(1, -1)},[3,"c"]`;
    expect(text).toBe(inside);
  });

  it("are whole however many answers they come in", async () => {
    const page = (first: number): string => {
      const cells = Array.from({ length: 500 }, (_, row) => `[${first + row}]`);
      return `[${cells.join(",")}]`;
    };
    const pages = Array.from({ length: 40 }, (_, index) => page(index * 500));
    trino.answers.set("SELECT many", () => ({ columns: [["n", "bigint"]], pages: pages.values() }));
    const { rows } = await followed("SELECT many");
    expect(rows).toEqual(Array.from({ length: 20_000 }, (_, index) => [index]));
  });

  it("are put into segments for a client that asks for those", async () => {
    trino.answers.set("SELECT few", () => ({
      columns: [["n", "bigint"]],
      pages: ["[[1]]", "[[2],[3]]"].values(),
    }));
    const { rows } = await followed("SELECT few", { "x-trino-query-data-encoding": "json" });
    expect(rows).toEqual([[1], [2], [3]]);
  });
});

interface Followed {
  readonly rows: readonly (readonly unknown[])[];
  /** The data of all answers as they came, one behind the other. */
  readonly text: string;
}

async function followed(
  sql: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Followed> {
  const headers = { "x-trino-user": "alice", ...more };
  let response = await fetch(`http://127.0.0.1:${portOf(gateway, "trinoHttp")}/v1/statement`, {
    method: "POST",
    body: sql,
    headers,
  });
  const rows: (readonly unknown[])[] = [];
  const texts: string[] = [];
  for (;;) {
    const text = await response.text();
    const results = JSON.parse(text) as Omit<QueryResults, "data"> & { readonly data?: unknown };
    if (results.error !== undefined) throw new Error(`${sql}: ${results.error.message}`);
    rows.push(...rowsOf(results.data));
    const data = /"data":\[(.*)\],"stats"/s.exec(text)?.[1];
    if (data !== undefined) texts.push(data);
    if (results.nextUri === undefined) return { rows, text: texts.join(",") };
    response = await fetch(results.nextUri, { headers });
  }
}

function rowsOf(data: unknown): readonly (readonly unknown[])[] {
  if (data === undefined || Array.isArray(data)) return data ?? [];
  const { segments } = data as { readonly segments: readonly { readonly data: string }[] };
  return segments.flatMap(
    (segment) => JSON.parse(Buffer.from(segment.data, "base64").toString()) as unknown[][],
  );
}
