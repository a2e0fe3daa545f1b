import java.sql.*;
import java.util.*;

/** What connectorJ.mjs asks of Connector/J: `java mysqlConnectorJ.java URL METHOD`. */
class MysqlConnectorJ {
  public static void main(String[] args) throws Exception {
    try (Connection c = DriverManager.getConnection(args[0])) {
      switch (args[1]) {
        case "types" -> types(c);
        case "cursor" -> cursor(c);
        case "stream" -> stream(c);
        case "large" -> large(c);
        case "writes" -> writes(c);
        case "metadata" -> metadata(c);
        case "errors" -> errors(c, args[0]);
        default -> throw new IllegalArgumentException(args[1]);
      }
    }
  }

  static void types(Connection c) throws SQLException {
    String sql = "select cast(12345678901234567890.12 as decimal(22,2)), date '2024-02-29', "
        + "timestamp '2024-02-29 23:59:59.123456', 9223372036854775807, null, 'ä', true";
    try (PreparedStatement s = c.prepareStatement(sql); ResultSet r = s.executeQuery()) {
      r.next();
      System.out.println(r.getBigDecimal(1) + " " + r.getDate(2) + " "
          + r.getObject(3, java.time.LocalDateTime.class) + " " + r.getLong(4) + " "
          + r.getString(5) + " " + r.getString(6) + " " + r.getBoolean(7));
    }
  }

  static void cursor(Connection c) throws SQLException {
    c.setAutoCommit(false);
    try (Statement w = c.createStatement()) {
      w.execute("create table if not exists cursor_rows (n integer)");
      w.execute("delete from cursor_rows");
    }
    c.commit();
    try (PreparedStatement s = c.prepareStatement("select i from range(25) t(i) where i >= ?");
        PreparedStatement w = c.prepareStatement("insert into cursor_rows values (?)")) {
      s.setFetchSize(10);
      s.setInt(1, 0);
      w.setInt(1, -1);
      w.executeUpdate();
      StringBuilder out = new StringBuilder();
      try (ResultSet r = s.executeQuery()) {
        while (r.next()) {
          out.append(r.getInt(1)).append(' ');
          w.setInt(1, r.getInt(1));
          w.executeUpdate();
        }
      }
      try (Statement q = c.createStatement();
          ResultSet r = q.executeQuery("select count(*) from cursor_rows where n >= 0")) {
        r.next();
        System.out.println(out + "/ " + r.getInt(1));
      }
    }
    c.rollback();
  }

  static void stream(Connection c) throws SQLException {
    try (Statement s = c.createStatement()) {
      s.setFetchSize(Integer.MIN_VALUE);
      StringJoiner out = new StringJoiner(" ");
      try (ResultSet r = s.executeQuery("select i from range(25) t(i)")) {
        while (r.next()) out.add(r.getString(1));
      }
      System.out.println(out);
    }
  }

  static void large(Connection c) throws SQLException {
    try (PreparedStatement s = c.prepareStatement("select repeat('x', 5000000), length(?)")) {
      s.setString(1, "y".repeat(500_000));
      try (ResultSet r = s.executeQuery()) {
        r.next();
        System.out.println(r.getString(1).length() + " " + r.getInt(2));
      }
    }
  }

  static void writes(Connection c) throws SQLException {
    try (Statement s = c.createStatement()) {
      s.execute("create table if not exists writes (n integer, t varchar)");
      s.execute("delete from writes");
    }
    c.setAutoCommit(false);
    int rows = batch(c);
    c.rollback();
    int after = count(c);
    batch(c);
    c.commit();
    System.out.println(rows + " rows, " + after + " after the rollback, " + count(c)
        + " after the commit");
  }

  static int batch(Connection c) throws SQLException {
    try (PreparedStatement s = c.prepareStatement("insert into writes values (?, ?)")) {
      for (int n = 0; n < 3; n++) {
        s.setInt(1, n);
        s.setString(2, n == 1 ? null : "it's \\ " + n);
        s.addBatch();
      }
      s.executeBatch();
    }
    return count(c);
  }

  static int count(Connection c) throws SQLException {
    try (Statement s = c.createStatement();
        ResultSet r = s.executeQuery("select count(*) from writes")) {
      r.next();
      return r.getInt(1);
    }
  }

  static void metadata(Connection c) throws SQLException {
    DatabaseMetaData m = c.getMetaData();
    System.out.println("product " + m.getDatabaseProductName());
    System.out.println("quote " + m.getIdentifierQuoteString());
    String db = c.getCatalog();
    try (ResultSet r = m.getTables(db, null, "%", null)) {
      while (r.next()) System.out.println("table " + r.getString(3) + " " + r.getString(4));
    }
    try (ResultSet r = m.getColumns(db, null, "customers", "%")) {
      while (r.next()) System.out.println("column " + r.getString(4) + " " + r.getString(6));
    }
    System.out.println("types " + (some(m.getTypeInfo()) ? "yes" : "no"));
    try (ResultSet r = m.getFunctions(db, null, "%")) {
      int count = 0;
      while (r.next()) count++;
      System.out.println("functions " + count);
    }
    some(m.getCatalogs());
    some(m.getSchemas());
    some(m.getTableTypes());
    some(m.getPrimaryKeys(db, null, "customers"));
    some(m.getIndexInfo(db, null, "customers", false, true));
    some(m.getImportedKeys(db, null, "customers"));
    some(m.getExportedKeys(db, null, "customers"));
    some(m.getProcedures(db, null, "%"));
  }

  static boolean some(ResultSet rows) throws SQLException {
    try (rows) {
      return rows.next();
    }
  }

  static void errors(Connection c, String url) {
    for (String sql : List.of("select * from no_such_table", "selec 1")) {
      try (Statement s = c.createStatement()) {
        s.execute(sql);
      } catch (SQLException e) {
        System.out.println(e.getErrorCode() + " " + e.getSQLState());
      }
    }
    try {
      DriverManager.getConnection(url.replace("/main?", "/no_such_database?")).close();
    } catch (SQLException e) {
      System.out.println(e.getErrorCode() + " " + e.getSQLState());
    }
  }
}
