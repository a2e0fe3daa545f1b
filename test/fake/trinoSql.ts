/** The few statements that the fake Trino knows, over one table and its transactions. No SQL engine. */
import { readLiterals } from "./trinoLiteral.ts";

/** What a statement comes to. `pages` are JSON arrays of rows, made when they are asked for. */
export interface Outcome {
  readonly columns?: readonly (readonly [name: string, type: string])[];
  readonly pages?: Iterator<string>;
  /** Polls are answered without rows until the query is cancelled. */
  readonly endless?: boolean;
  readonly updateType?: string;
  readonly updateCount?: number;
  readonly error?: FakeError;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FakeError {
  readonly name: string;
  readonly type: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** What came with the statement. */
export interface Asked {
  readonly transaction: string | undefined;
  readonly prepared: string | undefined;
}

type Row = readonly [id: number, label: string];
interface State {
  readonly tables: ReadonlySet<string>;
  readonly rows: readonly Row[];
}

/** What a text that can not be parsed holds. */
export const brokenMark = "selec from";

export class FakeSql {
  #state: State = { tables: new Set(), rows: [] };
  readonly #transactions = new Map<string, State>();
  #count = 0;

  run(sql: string, asked: Asked): Outcome {
    const broken = sql.indexOf(brokenMark);
    if (broken >= 0) return syntaxError(sql, broken);
    const text = sql.trim().replaceAll(/\s+/g, " ");
    const immediate = /^EXECUTE IMMEDIATE '(?:[^']|'')*' USING (.*)$/s.exec(sql)?.[1];
    if (immediate !== undefined) return echo(immediate);
    if (/^DESCRIBE (INPUT|OUTPUT) /.test(text)) return this.#describe(text, asked);
    return this.#transaction(text, asked) ?? this.#plain(text.toLowerCase(), asked);
  }

  #transaction(text: string, { transaction }: Asked): Outcome | undefined {
    if (text.startsWith("START TRANSACTION")) {
      if (transaction !== "NONE") return failure("INCOMPATIBLE_CLIENT", "no transactions");
      this.#count += 1;
      const id = `tx-${this.#count}`;
      this.#transactions.set(id, this.#state);
      return {
        updateType: "START TRANSACTION",
        headers: { "x-trino-started-transaction-id": id },
      };
    }
    if (text !== "COMMIT" && text !== "ROLLBACK") return undefined;
    const state = this.#transactions.get(transaction ?? "");
    if (state === undefined) return failure("NOT_IN_TRANSACTION", "no transaction in progress");
    if (text === "COMMIT") this.#state = state;
    this.#transactions.delete(transaction ?? "");
    return { updateType: text, headers: { "x-trino-clear-transaction-id": "true" } };
  }

  #plain(text: string, asked: Asked): Outcome {
    const state = this.#transactions.get(asked.transaction ?? "") ?? this.#state;
    const save = (next: State): void => {
      if (this.#transactions.has(asked.transaction ?? "")) {
        this.#transactions.set(asked.transaction ?? "", next);
      } else this.#state = next;
    };
    return tables(text, state, save) ?? change(text, state, save) ?? select(text, state);
  }

  #describe(text: string, { prepared = "", transaction }: Asked): Outcome {
    const state = this.#transactions.get(transaction ?? "") ?? this.#state;
    if (text.startsWith("DESCRIBE INPUT")) {
      const columns = [
        ["Position", "bigint"],
        ["Type", "varchar"],
      ] as const;
      const places = prepared.split("?").length - 1;
      const rows = Array.from({ length: places }, (_, index) => [index, "integer"]);
      return { columns, pages: onePage(rows.length === 0 ? [[null, null]] : rows) };
    }
    const columns = ["Column Name", "Catalog", "Schema", "Table", "Type"].map(
      (name) => [name, "varchar"] as const,
    );
    const found = select(prepared, state);
    const rows = (found.columns ?? []).map(([name, type]) => [name, "", "", "", type]);
    return { columns, pages: onePage(rows) };
  }
}

function tables(text: string, state: State, save: (state: State) => void): Outcome | undefined {
  const [, verb, name = ""] = /^(create|drop) table (\w+)/.exec(text) ?? [];
  if (verb === undefined) return undefined;
  const names = new Set(state.tables);
  if (verb === "create") names.add(name);
  else names.delete(name);
  save({ ...state, tables: names });
  return { updateType: `${verb.toUpperCase()} TABLE` };
}

function change(text: string, state: State, save: (state: State) => void): Outcome | undefined {
  const [, verb] = /^(insert into|update|delete from) suite_t\b/.exec(text) ?? [];
  if (verb === undefined) return undefined;
  const limit = Number(/where id (?:=|<=) (\d+)/.exec(text)?.[1] ?? Number.NaN);
  if (verb === "insert into") {
    const added = [...text.matchAll(/\((\d+), '(\w+)'\)/g)].map(([, id, label]): Row => [
      Number(id),
      label ?? "",
    ]);
    save({ ...state, rows: [...state.rows, ...added] });
    return changed("INSERT", added.length);
  }
  if (verb === "update") {
    return changed("UPDATE", state.rows.filter(([id]) => id <= limit).length);
  }
  const kept = state.rows.filter(([id]) => !Number.isNaN(limit) && id !== limit);
  save({ ...state, rows: kept });
  return changed("DELETE", state.rows.length - kept.length);
}

function changed(updateType: string, updateCount: number): Outcome {
  return {
    columns: [["rows", "bigint"]],
    pages: onePage([[updateCount]]),
    updateType,
    updateCount,
  };
}

function select(text: string, { tables: names, rows }: State): Outcome {
  if (text === "select 1") return { columns: [["_col0", "integer"]], pages: onePage([[1]]) };
  if (text === "show catalogs") {
    return { columns: [["Catalog", "varchar(10)"]], pages: onePage([["memory"], ["system"]]) };
  }
  if (text.includes("information_schema.columns")) return informationSchema(names);
  if (text.includes("information_schema.views")) {
    return {
      columns: [
        ["table_schema", "varchar"],
        ["table_name", "varchar"],
      ],
    };
  }
  if (text.includes("from endless")) return { columns: [["_col0", "bigint"]], endless: true };
  if (text.includes("from flood")) {
    return {
      columns: [
        ["i", "bigint"],
        ["label", "varchar(20)"],
      ],
      pages: flood(),
    };
  }
  const table = /from (\w+)/.exec(text)?.[1] ?? "";
  if (!names.has(table)) {
    return failure("TABLE_NOT_FOUND", `line 1:15: Table 'memory.default.${table}' does not exist`);
  }
  if (text.startsWith("select a ")) return { columns: [["a", "integer"]] };
  if (text.includes("count(*)")) {
    return { columns: [["_col0", "bigint"]], pages: onePage([[rows.length]]) };
  }
  const columns = [
    ["id", "integer"],
    ["label", "varchar"],
  ] as const;
  return text.includes("id < 0") ? { columns } : { columns, pages: onePage(rows) };
}

function informationSchema(names: ReadonlySet<string>): Outcome {
  const fields = ["table_schema", "table_name", "column_name", "data_type", "is_nullable"];
  const columns = fields.map((name) => [name, "varchar"] as const);
  const rows = [...names].flatMap((name) => [
    ["default", name, "id", "integer", "YES"],
    ["default", name, "label", "varchar", "YES"],
  ]);
  return { columns, pages: onePage(rows) };
}

function echo(literals: string): Outcome {
  const found = readLiterals(literals);
  return {
    columns: found.map(({ type }, index) => [`_col${index}`, type] as const),
    pages: [`[[${found.map(({ json }) => json).join(",")}]]`][Symbol.iterator](),
  };
}

function onePage(rows: readonly (readonly unknown[])[]): Iterator<string> {
  return [JSON.stringify(rows)][Symbol.iterator]();
}

function* flood(): Generator<string, void, void> {
  for (let page = 0; ; page += 1) {
    const rows = Array.from({ length: 50 }, (_, index) => [page * 50 + index, `row ${index}`]);
    yield JSON.stringify(rows);
  }
}

function failure(name: string, message: string): Outcome {
  return { error: { name, type: "USER_ERROR", message } };
}

function syntaxError(sql: string, at: number): Outcome {
  const before = sql.slice(0, at);
  const line = before.split("\n").length;
  const column = Array.from(before.slice(before.lastIndexOf("\n") + 1)).length + 1;
  const message = `line ${line}:${column}: mismatched input 'selec'`;
  return { error: { name: "SYNTAX_ERROR", type: "USER_ERROR", message, line, column } };
}
