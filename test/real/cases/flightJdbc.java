import java.sql.*;
import java.util.*;
import java.util.logging.*;

/** Apache Arrow's JDBC driver of Flight SQL, as tools use it. Prints one line for each thing it saw. */
public class flightJdbc {
  public static void main(String[] args) throws Exception {
    LogManager.getLogManager().reset();
    try (Connection c = DriverManager.getConnection(args[0])) {
      types(c);
      prepared(c);
      metadata(c);
      many(c);
      error(c);
      cancel(c, args[1]);
    }
  }

  static void types(Connection c) throws Exception {
    try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(
        "select 12345678901234567890.12::decimal(22,2), date '2024-02-29', timestamp '2024-02-29 23:59:59.123456', "
        + "9223372036854775807, null::integer, 'ä', true, 1.5::double, (-3)::smallint, sum(i), 'x'::blob from range(3) t(i)")) {
      r.next();
      List<String> cells = new ArrayList<>();
      for (int i = 1; i <= 9; i++) cells.add(String.valueOf(r.getObject(i)));
      cells.add(r.getBigDecimal(10).toPlainString());
      cells.add(new String(r.getBytes(11)));
      System.out.println(String.join(" ", cells));
    }
  }

  static void prepared(Connection c) throws Exception {
    try (Statement s = c.createStatement()) {
      System.out.println("ddl " + s.executeUpdate("create or replace table flight_jdbc (id integer, label varchar)"));
      System.out.println("insert " + s.executeUpdate("insert into flight_jdbc values (1, 'one'), (2, 'two')"));
    }
    try (PreparedStatement p = c.prepareStatement("insert into flight_jdbc values (?, ?)")) {
      p.setInt(1, 3);
      p.setString(2, "three");
      System.out.println("prepared insert " + p.executeUpdate());
    }
    try (PreparedStatement p = c.prepareStatement("select label from flight_jdbc where id >= ? order by id")) {
      for (int from = 2; from <= 3; from++) {
        p.setInt(1, from);
        try (ResultSet r = p.executeQuery()) {
          StringBuilder line = new StringBuilder("from " + from);
          while (r.next()) line.append(" ").append(r.getString(1));
          System.out.println(line);
        }
      }
    }
  }

  static void metadata(Connection c) throws Exception {
    try (Statement s = c.createStatement()) {
      s.executeUpdate("create or replace table flight_meta (id integer primary key, label varchar)");
    }
    DatabaseMetaData m = c.getMetaData();
    System.out.println("product " + m.getDatabaseProductName() + " quote " + m.getIdentifierQuoteString());
    print("catalog", m.getCatalogs(), "TABLE_CAT");
    print("schema", m.getSchemas("memory", "ma%"), "TABLE_SCHEM");
    print("table", m.getTables(null, null, "flight\\_meta", new String[] {"TABLE"}), "TABLE_NAME", "TABLE_TYPE");
    print("type", m.getTableTypes(), "TABLE_TYPE");
    print("column", m.getColumns(null, null, "flight_meta", null), "COLUMN_NAME", "TYPE_NAME");
    print("key", m.getPrimaryKeys(null, null, "flight_meta"), "COLUMN_NAME", "KEY_SEQ");
    print("imported", m.getImportedKeys(null, null, "flight_meta"), "PKTABLE_NAME");
  }

  static void print(String what, ResultSet r, String... columns) throws Exception {
    try (r) {
      while (r.next()) {
        StringBuilder line = new StringBuilder(what);
        for (String column : columns) line.append(" ").append(r.getString(column));
        System.out.println(line);
      }
    }
  }

  static void many(Connection c) throws Exception {
    try (Statement s = c.createStatement();
        ResultSet r = s.executeQuery("select i, 'x' || i from range(300000) t(i)")) {
      long rows = 0, sum = 0;
      while (r.next()) {
        rows++;
        sum += r.getLong(1);
        if (!r.getString(2).equals("x" + r.getLong(1))) throw new IllegalStateException();
      }
      System.out.println(rows + " " + sum);
    }
  }

  static void error(Connection c) throws Exception {
    try (Statement s = c.createStatement()) {
      s.executeQuery("select * from nowhere");
    } catch (SQLException e) {
      System.out.println(e.getMessage().contains("nowhere"));
    }
    try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select 1")) {
      r.next();
      System.out.println("then " + r.getInt(1));
    }
  }

  static void cancel(Connection c, String sql) throws Exception {
    try (Statement s = c.createStatement()) {
      Thread canceller = new Thread(() -> {
        try {
          System.in.read();
          s.cancel();
        } catch (Exception e) {
          System.out.println("cancel failed " + e);
        }
      });
      canceller.start();
      try (ResultSet r = s.executeQuery(sql)) {
        while (r.next()) {}
        System.out.println("it ended by itself");
      } catch (SQLException e) {
        System.out.println("cancelled");
      }
    }
  }
}
