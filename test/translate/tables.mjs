/** The tables that every engine of the differential suite has: few rows, and in them what engines read differently. */

const types = {
  duckdb: { text: "VARCHAR", double: "DOUBLE", moment: "TIMESTAMP" },
  postgres: { text: "VARCHAR(60)", double: "DOUBLE PRECISION", moment: "TIMESTAMP" },
  mysql: { text: "VARCHAR(60)", double: "DOUBLE", moment: "DATETIME(3)" },
  trino: { text: "VARCHAR", double: "DOUBLE", moment: "TIMESTAMP(3)" },
  clickhouse: { text: "String", double: "Float64", moment: "DateTime64(3)" },
};

const sales = [
  [1, 10, "19.90", 3, "2.5", "'Anna'", "'first'", "2024-01-31", "2024-01-31 10:15:30.250", true],
  [2, 10, "5.00", 7, "-1.25", "'anna'", "NULL", "2024-02-29", "2024-02-29 23:59:59.000", false],
  [
    3,
    20,
    "100.05",
    -4,
    "0.5",
    "'Bob ''B'' Smith'",
    "'a%b_c'",
    "2023-12-31",
    "2023-12-31 00:00:00.000",
    true,
  ],
  [4, 30, "-7.35", 9, "3.75", "'Zo\u00eb'", "''", "2024-03-10", "2024-03-10 02:30:00.125", false],
  [5, 20, "100.05", 1, "10", "'  padded '", "'x'", "2024-12-30", "2024-12-30 12:00:00.000", true],
  [6, 40, "0.01", 2, "-0.5", "'carl,dora'", "NULL", "2025-01-01", "2025-01-01 06:07:08.999", false],
];
const customers = [
  [10, "'DE'", "'North'"],
  [20, "'FR'", "'South'"],
  [30, "'DE'", "NULL"],
  [50, "'IT'", "'South'"],
];

/** The statements that make them. */
export function tablesOf(dialect) {
  const { text, double, moment } = types[dialect];
  const orNull = (type) => (dialect === "clickhouse" ? `Nullable(${type})` : type);
  const end = dialect === "clickhouse" ? " ENGINE = Memory" : "";
  const at = (kind, value) =>
    dialect === "clickhouse"
      ? `CAST('${value}' AS ${kind === "DATE" ? "Date" : moment})`
      : `${kind} '${value}'`;
  const salesRows = sales.map(([id, customer, amount, qty, price, name, note, day, sold, ok]) =>
    [
      id,
      customer,
      amount,
      qty,
      dialect === "trino" ? `DOUBLE '${price}'` : price,
      name,
      note,
      at("DATE", day),
      at("TIMESTAMP", sold),
      ok ? "TRUE" : "FALSE",
    ].join(", "),
  );
  const whole = dialect === "clickhouse" ? "Int32" : "INTEGER";
  const decimal = dialect === "clickhouse" ? "Decimal(10, 2)" : "DECIMAL(10, 2)";
  const truth = dialect === "clickhouse" ? "Bool" : "BOOLEAN";
  const date = dialect === "clickhouse" ? "Date" : "DATE";
  return [
    `CREATE TABLE sales (id ${whole}, customer ${whole}, amount ${decimal}, qty ${whole}, price ${double}, ` +
      `name ${text}, note ${orNull(text)}, sold_on ${date}, sold_at ${moment}, ok ${truth})${end}`,
    `INSERT INTO sales VALUES ${salesRows.map((row) => `(${row})`).join(", ")}`,
    `CREATE TABLE customers (id ${whole}, country ${text}, region ${orNull(text)})${end}`,
    `INSERT INTO customers VALUES ${customers.map((row) => `(${row.join(", ")})`).join(", ")}`,
  ];
}
