import java.lang.reflect.Method;
import java.sql.*;
import java.util.*;
import java.util.concurrent.*;

/** All that a driver tells of a database and of statements, over each of two addresses; prints what differs. */
public class trinoMetadata {
  static final String catalog = "tpch", schema = "tiny";

  public static void main(String[] urls) throws Exception {
    var both = Executors.newFixedThreadPool(2);
    Future<Map<String, String>> first = both.submit(() -> told(urls[0], "counted_one"));
    Future<Map<String, String>> second = both.submit(() -> told(urls[1], "counted_two"));
    both.shutdown();
    Map<String, String> direct = first.get(), through = second.get();
    for (String name : direct.keySet()) {
      if (direct.get(name).equals(through.get(name))) continue;
      System.out.println("DIFFERENT " + name + "\n  direct " + direct.get(name) + "\n  through " + through.get(name));
    }
    System.out.println("compared " + direct.size());
  }

  /** `counted` is a table of its own; the other one must not be among what is listed. */
  static Map<String, String> told(String url, String counted) throws Exception {
    Map<String, String> told = new TreeMap<>();
    try (Connection c = DriverManager.getConnection(url)) {
      DatabaseMetaData data = c.getMetaData();
      for (Method method : DatabaseMetaData.class.getMethods()) {
        if (method.getParameterCount() > 0 || method.getReturnType() == Connection.class) continue;
        ask(told, method.getName(), () -> method.invoke(data));
      }
      for (String pattern : new String[] {null, "", "ti%", "TINY", "in_ormation\\_schema"})
        for (String in : new String[] {catalog, "memory", "nowhere", ""})
          ask(told, "getSchemas " + in + " " + pattern, () -> data.getSchemas(in, pattern));
      for (String[] kinds : new String[][] {null, {"VIEW"}, {"TABLE", "NOTHING"}, {}})
        for (String pattern : new String[] {null, "na%", "N%", "line\\_item"})
          ask(told, "getTables " + pattern + " " + Arrays.toString(kinds), () -> data.getTables(catalog, schema, pattern, kinds));
      ask(told, "getTables of memory", () -> data.getTables("memory", null, "ev%", null));
      ask(told, "getTables of system", () -> data.getTables("system", "jdbc", "%", null));
      for (String table : new String[] {"orders", "line\\_item", "nothing", null})
        for (String column : new String[] {null, "%key", "nothing"})
          ask(told, "getColumns " + table + " " + column, () -> data.getColumns(catalog, schema, table, column));
      ask(told, "getColumns of memory", () -> data.getColumns("memory", "types", "every", null));
      ask(told, "getColumns of system", () -> data.getColumns("system", "metadata", "%", "%"));
      ask(told, "getColumns of information_schema", () -> data.getColumns(catalog, "information_schema", "columns", "%"));
      ask(told, "getPrimaryKeys", () -> data.getPrimaryKeys(catalog, schema, "orders"));
      ask(told, "getImportedKeys", () -> data.getImportedKeys(catalog, schema, "orders"));
      ask(told, "getExportedKeys", () -> data.getExportedKeys(catalog, schema, "orders"));
      ask(told, "getCrossReference", () -> data.getCrossReference(catalog, schema, "orders", catalog, schema, "nation"));
      ask(told, "getIndexInfo", () -> data.getIndexInfo(catalog, schema, "orders", false, true));
      ask(told, "getBestRowIdentifier", () -> data.getBestRowIdentifier(catalog, schema, "orders", 1, true));
      ask(told, "getVersionColumns", () -> data.getVersionColumns(catalog, schema, "orders"));
      ask(told, "getTablePrivileges", () -> data.getTablePrivileges(catalog, schema, "orders"));
      ask(told, "getColumnPrivileges", () -> data.getColumnPrivileges(catalog, schema, "orders", "%"));
      ask(told, "getProcedures", () -> data.getProcedures(catalog, schema, "%"));
      ask(told, "getProcedureColumns", () -> data.getProcedureColumns(catalog, schema, "%", "%"));
      ask(told, "getFunctions", () -> data.getFunctions(catalog, schema, "%"));
      ask(told, "getFunctionColumns", () -> data.getFunctionColumns(catalog, schema, "%", "%"));
      ask(told, "getPseudoColumns", () -> data.getPseudoColumns(catalog, schema, "%", "%"));
      ask(told, "getAttributes", () -> data.getAttributes(catalog, schema, "%", "%"));
      ask(told, "getSuperTypes", () -> data.getSuperTypes(catalog, schema, "%"));
      ask(told, "getSuperTables", () -> data.getSuperTables(catalog, schema, "%"));
      ask(told, "getUDTs", () -> data.getUDTs(catalog, schema, "%", null));
      statements(told, c);
      session(told, c, counted);
    }
    // Encodings of segments: whoever has none answers plain rows, and never wrong ones.
    for (String encoding : new String[] {"json", "json%2Bzstd", "json%2Blz4"})
      ask(told, "many rows as " + encoding, () -> {
        try (Connection c = DriverManager.getConnection(url + "&encoding=" + encoding); Statement s = c.createStatement()) {
          return rows(s.executeQuery("select * from tpch.tiny.lineitem order by l_orderkey, l_linenumber limit 12000")).hashCode();
        }
      });
    return told;
  }

  static final String[] queries = {
    "select * from tpch.tiny.orders where o_orderkey < ? and o_comment <> ?",
    "select ? as given, cast(? as decimal(12, 3)) as price",
    "show tables from tpch.tiny like '%s'",
    "select null, array[1], map(array['a'], array[1.5]), row(1, 'x'), timestamp '2024-01-01 00:00:00.123456789 UTC', time '10:00:00 +02:00', uuid '00112233-4455-6677-8899-aabbccddeeff', interval '2' day, json '{}', ipaddress '10.0.0.1'",
  };

  static void statements(Map<String, String> told, Connection c) {
    for (String sql : queries) {
      ask(told, "parameters of " + sql, () -> {
        try (PreparedStatement s = c.prepareStatement(sql)) {
          ParameterMetaData given = s.getParameterMetaData();
          StringBuilder text = new StringBuilder();
          for (int i = 1; i <= given.getParameterCount(); i++)
            text.append(given.getParameterType(i)).append(' ').append(given.getParameterTypeName(i)).append(' ').append(given.getPrecision(i)).append(' ').append(given.getScale(i)).append(';');
          return text.toString();
        }
      });
      ask(told, "columns of " + sql, () -> {
        try (PreparedStatement s = c.prepareStatement(sql)) {
          return columns(s.getMetaData());
        }
      });
      ask(told, "rows of " + sql, () -> {
        try (PreparedStatement s = c.prepareStatement(sql)) {
          for (int i = 1; i <= s.getParameterMetaData().getParameterCount(); i++) {
            if (sql.contains("decimal")) s.setBigDecimal(i, new java.math.BigDecimal("7.25"));
            else if (i == 1) s.setLong(i, 9);
            else s.setString(i, "it's");
          }
          return rows(s.executeQuery());
        }
      });
    }
  }

  static void session(Map<String, String> told, Connection c, String counted) {
    ask(told, "catalog and schema", () -> c.getCatalog() + "." + c.getSchema());
    ask(told, "isolation", () -> c.getTransactionIsolation());
    ask(told, "a catalog of its own", () -> {
      c.setCatalog("memory");
      c.setSchema("types");
      try (Statement s = c.createStatement()) {
        return rows(s.executeQuery("select current_catalog, current_schema"));
      }
    });
    ask(told, "update counts", () -> {
      try (Statement s = c.createStatement()) {
        return s.executeUpdate("create table memory.types." + counted + " as select 1 as a") + " " + s.executeUpdate("insert into memory.types." + counted + " values 2, 3") + " " + s.executeUpdate("drop table memory.types." + counted);
      }
    });
    ask(told, "a transaction", () -> {
      c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
      c.setAutoCommit(false);
      try (Statement s = c.createStatement()) {
        String text = rows(s.executeQuery("select count(*) from tpch.tiny.nation"));
        c.commit();
        return text + c.getAutoCommit() + c.getTransactionIsolation();
      } finally {
        c.setAutoCommit(true);
      }
    });
    for (String sql : new String[] {"selec 1", "select * from nowhere", "select 1 / 0", "select\n nothing from tpch.tiny.nation", "use nowhere.x"})
      ask(told, "the failure of " + sql, () -> {
        try (Statement s = c.createStatement()) {
          return s.execute(sql) ? rows(s.getResultSet()) : "no rows";
        }
      });
  }

  interface Asked {
    Object answer() throws Exception;
  }

  static void ask(Map<String, String> told, String name, Asked asked) {
    String text;
    try {
      Object answer = asked.answer();
      text = answer instanceof ResultSet found ? columns(found.getMetaData()) + rows(found) : String.valueOf(answer);
    } catch (Exception e) {
      Throwable cause = e.getCause() != null && !(e instanceof SQLException) ? e.getCause() : e;
      text = "failed " + cause.getClass().getSimpleName();
      if (cause instanceof SQLException sql) text += " " + sql.getErrorCode() + " " + sql.getSQLState() + " " + sql.getMessage().replaceAll("\\(#\\S+\\)", "");
    }
    if (told.put(name, text) != null) throw new IllegalStateException("asked twice: " + name);
  }

  static String columns(ResultSetMetaData data) throws SQLException {
    StringBuilder text = new StringBuilder();
    for (int i = 1; i <= data.getColumnCount(); i++)
      text.append(String.join(" ", data.getColumnLabel(i), data.getColumnTypeName(i), "" + data.getColumnType(i), data.getColumnClassName(i), "" + data.getPrecision(i), "" + data.getScale(i), "" + data.getColumnDisplaySize(i), "" + data.isSigned(i), "" + data.isNullable(i), data.getCatalogName(i), data.getSchemaName(i), data.getTableName(i))).append(';');
    return text.append('\n').toString();
  }

  static String rows(ResultSet rows) throws SQLException {
    StringBuilder text = new StringBuilder();
    int width = rows.getMetaData().getColumnCount();
    while (rows.next()) {
      for (int i = 1; i <= width; i++) text.append(rows.getObject(i)).append('|').append(rows.getString(i)).append(',');
      text.append('\n');
    }
    return text.toString();
  }
}
