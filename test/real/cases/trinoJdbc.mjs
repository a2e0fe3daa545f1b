/** Trino's JDBC driver from Maven, driven by a Java program without a build. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { command, expectCode, expectMatch, expectText } from "../command.mjs";
import { endlessSql, joinSql, sameJoin, untilRunning } from "../gateway.mjs";
import { bringJar, jarOf } from "./maven.mjs";

const version = "476";
/** The driver's jar. */
export const driver = jarOf("trino-jdbc", version);

/** True when the driver and a Java that runs a source file are there, or the reason why not. */
export const trinoJdbcTool = () => bringJar("io.trino", "trino-jdbc", version);

/** Runs a body with a connection `c`; what it prints is the answer. */
async function java(gateway, body, parameters = "") {
  const folder = await mkdtemp(join(tmpdir(), "trino-jdbc-"));
  try {
    const url = `jdbc:trino://127.0.0.1:${gateway.ports.trino}/memory/main?user=alice${parameters}`;
    const source = join(folder, "Case.java");
    await writeFile(
      source,
      `import java.sql.*;
public class Case {
  static void all(ResultSet rows) throws SQLException {
    int width = rows.getMetaData().getColumnCount();
    while (rows.next()) {
      StringBuilder line = new StringBuilder();
      for (int i = 1; i <= width; i++) line.append(i > 1 ? "," : "").append(rows.getString(i));
      System.out.println(line);
    }
  }
  public static void main(String[] args) throws Exception {
    try (Connection c = DriverManager.getConnection(${JSON.stringify(url)})) {
      ${body}
    }
  }
}
`,
    );
    const path = [driver, folder].join(delimiter);
    return await command("java", ["-cp", path, source], { seconds: 120 });
  } finally {
    await rm(folder, { recursive: true });
  }
}

const answer = async (...args) => expectCode(await java(...args)).stdout;
const queried = (sql) => `all(c.createStatement().executeQuery(${JSON.stringify(sql)}));`;

/** Sums and counts what the driver decoded of many answers. */
const manyRows = `
  ResultSet rows = c.createStatement().executeQuery("select i, 'x' || i, i * 1.5e0 from range(60000) r(i)");
  long count = 0, sum = 0;
  while (rows.next()) { count++; sum += rows.getLong(1); if (!rows.getString(2).equals("x" + rows.getLong(1))) throw new Error(); }
  System.out.println(count + "," + sum);`;

export const trinoJdbcCases = {
  tool: "trinoJdbc",
  cases: {
    "a join over the sample": async (gateway) => {
      sameJoin(await answer(gateway, queried(joinSql)));
    },
    "types arrive as Java's own, exactly": async (gateway) => {
      const body = `
        ResultSet r = c.createStatement().executeQuery("select cast(12345678901234567890.12 as decimal(22,2)), date '2024-02-29', timestamp '2024-02-29 23:59:59.123456', 9223372036854775807, null, 'ä', true, [1,2], timestamptz '2024-02-29 12:00:00+00'");
        r.next();
        System.out.println(r.getBigDecimal(1) + "|" + r.getDate(2) + "|" + r.getTimestamp(3) + "|" + r.getLong(4) + "|" + r.getObject(5) + "|" + r.getString(6) + "|" + r.getBoolean(7) + "|" + r.getArray(8) + "|" + r.getTimestamp(9).toInstant());`;
      expectText(
        await answer(gateway, body),
        "12345678901234567890.12|2024-02-29|2024-02-29 23:59:59.123456|9223372036854775807|null|ä|true|[1, 2]|2024-02-29T12:00:00Z",
      );
    },
    "many rows arrive whole, plain and in segments": async (gateway) => {
      for (const parameters of ["", "&encoding=json", "&encoding=json%2Bzstd"]) {
        expectText(await answer(gateway, manyRows, parameters), "60000,1799970000");
      }
    },
    "a prepared statement takes typed values": async (gateway) => {
      const body = `
        PreparedStatement s = c.prepareStatement("select ? + 1, ?, cast(? as date)");
        s.setInt(1, 41); s.setString(2, "it's"); s.setDate(3, Date.valueOf("2024-02-29"));
        all(s.executeQuery());`;
      expectText(await answer(gateway, body), "42,it's,2024-02-29");
    },
    "DatabaseMetaData lists catalogs, schemas, tables, columns and types": async (gateway) => {
      const body = `
        DatabaseMetaData d = c.getMetaData();
        all(d.getCatalogs()); all(d.getSchemas("memory", "ma%"));
        ResultSet t = d.getTables("memory", "main", "o%", new String[] {"TABLE"});
        while (t.next()) System.out.println(t.getString("TABLE_NAME") + " " + t.getString("TABLE_TYPE"));
        ResultSet k = d.getColumns("memory", "main", "orders", "order_id");
        while (k.next()) System.out.println(k.getString("COLUMN_NAME") + " " + k.getString("TYPE_NAME") + " " + k.getInt("DATA_TYPE"));
        ResultSet y = d.getTypeInfo();
        int types = 0;
        while (y.next()) types++;
        System.out.println(types);
        for (ResultSet r : new ResultSet[] {d.getAttributes(null, null, null, null), d.getSuperTypes(null, null, null), d.getSuperTables(null, null, null), d.getProcedures(null, null, null), d.getProcedureColumns(null, null, null, null), d.getPseudoColumns(null, null, null, null), d.getUDTs(null, null, null, null), d.getPrimaryKeys("memory", "main", "orders")})
          if (r.next()) throw new Error("a row");`;
      expectText(
        await answer(gateway, body),
        "memory\nmain,memory\norders TABLE\norder_id integer 4\n14",
      );
    },
    "a transaction is rolled back": async (gateway) => {
      const body = `
        c.setAutoCommit(false);
        Statement s = c.createStatement();
        s.execute("create table jdbc_rolled_back(i int)");
        s.executeUpdate("insert into jdbc_rolled_back values (1), (2)");
        all(s.executeQuery("select count(*) from jdbc_rolled_back"));
        c.rollback();
        c.setAutoCommit(true);
        all(c.createStatement().executeQuery("select count(*) from information_schema.tables where table_name = 'jdbc_rolled_back'"));`;
      expectText(await answer(gateway, body), "2\n0");
    },
    "cancel ends the engine's query": async (gateway) => {
      const body = `
        Statement s = c.createStatement();
        Thread t = new Thread(() -> { try { s.executeQuery(${JSON.stringify(endlessSql)}); } catch (SQLException e) { System.out.println("cancelled"); } });
        t.start();
        while (t.isAlive()) { Thread.sleep(500); s.cancel(); t.join(500); }`;
      expectText(await answer(gateway, body), "cancelled");
      await untilRunning(gateway, 0, 2);
    },
    "an error has Trino's own code and place": async (gateway) => {
      const body = `
        try { c.createStatement().executeQuery("select * from no_such_table"); }
        catch (SQLException e) { System.out.println(e.getErrorCode() + " " + e.getMessage()); }`;
      expectMatch(await answer(gateway, body), /^46 Query failed .*line 1:15: .*no_such_table/);
    },
  },
};
