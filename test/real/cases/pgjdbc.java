import java.sql.*;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;

/** What pgjdbc.mjs asks of the driver: `java pgjdbc.java URL METHOD`. */
class Pgjdbc {
  public static void main(String[] args) throws Exception {
    try (Connection c = DriverManager.getConnection(args[0])) {
      switch (args[1]) {
        case "types" -> types(c);
        case "metadata" -> metadata(c);
        case "prepared" -> prepared(c);
        case "cursor" -> cursor(c);
        case "writes" -> writes(c);
        case "cancel" -> cancel(c, args[2]);
        case "errors" -> errors(c);
        default -> throw new IllegalArgumentException(args[1]);
      }
    }
  }

  /** Seven times: the driver turns to a named statement, and to binary, after five. */
  static void types(Connection c) throws SQLException {
    String sql = "select cast(12345678901234567890.12 as decimal(22,2)), date '2024-02-29', "
        + "timestamp '2024-02-29 23:59:59.123456', 9223372036854775807, null, 'ä', true, "
        + "[1, 2], 1.5::float8, timestamptz '2024-02-29 12:00:00+00', '\\x00\\xFF'::blob";
    Set<String> seen = new LinkedHashSet<>();
    try (PreparedStatement s = c.prepareStatement(sql)) {
      for (int round = 0; round < 7; round++) {
        try (ResultSet r = s.executeQuery()) {
          r.next();
          seen.add(r.getBigDecimal(1) + " " + r.getDate(2) + " "
              + r.getObject(3, java.time.LocalDateTime.class) + " " + r.getLong(4) + " "
              + r.getString(5) + " " + r.getString(6) + " " + r.getBoolean(7) + " "
              + Arrays.toString((Object[]) r.getArray(8).getArray()) + " " + r.getDouble(9) + " "
              + r.getObject(10, java.time.OffsetDateTime.class).toInstant() + " "
              + Arrays.toString(r.getBytes(11)));
        }
      }
    }
    seen.forEach(System.out::println);
  }

  static void prepared(Connection c) throws SQLException {
    String sql = "select ?::int + 1, ?::varchar, ?::date, ?::decimal(10,2), ?::bigint, ?::boolean";
    StringJoiner out = new StringJoiner("\n");
    try (PreparedStatement s = c.prepareStatement(sql)) {
      for (int round = 0; round < 7; round++) {
        s.setInt(1, round);
        s.setString(2, round % 2 == 0 ? "it's \\ " + round : null);
        s.setDate(3, Date.valueOf("2024-02-29"));
        s.setBigDecimal(4, new java.math.BigDecimal("1.50"));
        s.setLong(5, Long.MAX_VALUE - round);
        s.setBoolean(6, round > 3);
        try (ResultSet r = s.executeQuery()) {
          r.next();
          out.add(r.getInt(1) + " " + r.getString(2) + " " + r.getDate(3) + " "
              + r.getBigDecimal(4) + " " + r.getLong(5) + " " + r.getBoolean(6));
        }
      }
    }
    System.out.println(out);
  }

  static void cursor(Connection c) throws SQLException {
    c.setAutoCommit(false);
    long sum = 0;
    try (PreparedStatement s = c.prepareStatement("select i from range(25000) t(i) where i >= ?");
        PreparedStatement other = c.prepareStatement("select ?::int")) {
      s.setFetchSize(1000);
      s.setLong(1, 1);
      try (ResultSet r = s.executeQuery()) {
        for (int row = 0; r.next(); row++) {
          sum += r.getLong(1);
          if (row % 5000 == 0) {
            other.setInt(1, row);
            some(other.executeQuery());
          }
        }
      }
    }
    c.commit();
    System.out.println(sum);
  }

  static void writes(Connection c) throws SQLException {
    try (Statement s = c.createStatement()) {
      s.execute("create or replace table jdbc_writes (n integer, t varchar)");
    }
    c.setAutoCommit(false);
    int rows = batch(c);
    c.rollback();
    int after = count(c);
    batch(c);
    c.commit();
    System.out.println(rows + " rows, " + after + " after the rollback, " + count(c)
        + " after the commit");
    try (Statement s = c.createStatement()) {
      s.execute("drop table jdbc_writes");
    }
    c.commit();
  }

  static int batch(Connection c) throws SQLException {
    try (PreparedStatement s = c.prepareStatement("insert into jdbc_writes values (?, ?)")) {
      for (int n = 0; n < 300; n++) {
        s.setInt(1, n);
        s.setString(2, n == 1 ? null : "it's \\ " + n);
        s.addBatch();
      }
      for (int updated : s.executeBatch()) {
        if (updated != 1 && updated != Statement.SUCCESS_NO_INFO) throw new SQLException("" + updated);
      }
    }
    return count(c);
  }

  static int count(Connection c) throws SQLException {
    try (Statement s = c.createStatement();
        ResultSet r = s.executeQuery("select count(*) from jdbc_writes")) {
      r.next();
      return r.getInt(1);
    }
  }

  static void metadata(Connection c) throws SQLException {
    try (Statement s = c.createStatement()) {
      s.execute("create or replace table jdbc_keyed (id integer primary key, name varchar not null)");
    }
    DatabaseMetaData m = c.getMetaData();
    System.out.println("product " + m.getDatabaseProductName());
    System.out.println("quote " + m.getIdentifierQuoteString());
    System.out.println("keywords " + (m.getSQLKeywords().isEmpty() ? "no" : "yes"));
    try (ResultSet r = m.getTables(null, "main", "%", new String[] {"TABLE"})) {
      while (r.next()) System.out.println("table " + r.getString(3) + " " + r.getString(4));
    }
    try (ResultSet r = m.getColumns(null, "main", "jdbc_keyed", "%")) {
      while (r.next()) {
        System.out.println("column " + r.getString(4) + " " + r.getString(6) + " " + r.getString(18));
      }
    }
    try (ResultSet r = m.getPrimaryKeys(null, "main", "jdbc_keyed")) {
      while (r.next()) System.out.println("key " + r.getString(4) + " " + r.getInt(5));
    }
    try (ResultSet r = m.getIndexInfo(null, "main", "jdbc_keyed", true, true)) {
      while (r.next()) System.out.println("index " + r.getString(6) + " " + r.getString(9));
    }
    System.out.println("types " + (some(m.getTypeInfo()) ? "yes" : "no"));
    some(m.getCatalogs());
    some(m.getSchemas());
    some(m.getTableTypes());
    some(m.getImportedKeys(null, "main", "jdbc_keyed"));
    some(m.getExportedKeys(null, "main", "jdbc_keyed"));
    some(m.getCrossReference(null, "main", "jdbc_keyed", null, "main", "orders"));
    some(m.getBestRowIdentifier(null, "main", "jdbc_keyed", 0, true));
    some(m.getTablePrivileges(null, "main", "jdbc_keyed"));
    some(m.getColumnPrivileges(null, "main", "jdbc_keyed", "%"));
    some(m.getProcedures(null, "main", "%"));
    some(m.getFunctions(null, "main", "%"));
    some(m.getUDTs(null, "main", "%", null));
    some(m.getClientInfoProperties());
    try (Statement s = c.createStatement()) {
      s.execute("drop table jdbc_keyed");
    }
  }

  static boolean some(ResultSet rows) throws SQLException {
    try (rows) {
      return rows.next();
    }
  }

  static void cancel(Connection c, String endless) throws Exception {
    try (Statement s = c.createStatement()) {
      Thread other = new Thread(() -> {
        try {
          System.in.read();
          s.cancel();
        } catch (Exception e) {
          System.out.println(e);
        }
      });
      other.start();
      try {
        s.executeQuery(endless);
      } catch (SQLException e) {
        System.out.println(e.getSQLState());
      }
      other.join();
      System.out.println(some(s.executeQuery("select 1")) ? "goes on" : "no row");
    }
  }

  static void errors(Connection c) throws SQLException {
    for (String sql : List.of("select * from no_such_table", "selec 1", "select 'x'::int")) {
      try (Statement s = c.createStatement()) {
        s.execute(sql);
      } catch (SQLException e) {
        System.out.println(e.getSQLState());
      }
    }
    c.setAutoCommit(false);
    try (Statement s = c.createStatement()) {
      for (String sql : List.of("selec 1", "select 1")) {
        try {
          s.execute(sql);
        } catch (SQLException e) {
          System.out.println(e.getSQLState());
        }
      }
    }
    c.rollback();
    try (Statement s = c.createStatement()) {
      System.out.println(some(s.executeQuery("select 1")) ? "goes on" : "no row");
    }
  }
}
