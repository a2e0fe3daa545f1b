import java.sql.*;

/** What mariadbConnectorJ.mjs asks of MariaDB Connector/J: `java mariadbConnectorJ.java URL`. */
class MariadbConnectorJ {
  public static void main(String[] args) throws Exception {
    try (Connection c = DriverManager.getConnection(args[0])) {
      types(c);
      writes(c);
      metadata(c);
      errors(c);
    }
  }

  static void types(Connection c) throws SQLException {
    String sql = "select cast(12345678901234567890.12 as decimal(22,2)), date '2024-02-29', "
        + "timestamp '2024-02-29 23:59:59.123456', 9223372036854775807, null, 'ä', true, ?";
    try (PreparedStatement s = c.prepareStatement(sql)) {
      s.setString(1, "it's \\ ä");
      try (ResultSet r = s.executeQuery()) {
        r.next();
        System.out.println("types " + r.getBigDecimal(1) + " " + r.getObject(2, java.time.LocalDate.class) + " "
            + r.getObject(3, java.time.LocalDateTime.class) + " " + r.getLong(4) + " "
            + r.getString(5) + " " + r.getString(6) + " " + r.getBoolean(7) + " " + r.getString(8));
      }
    }
  }

  static void writes(Connection c) throws SQLException {
    try (Statement s = c.createStatement()) {
      s.execute("create or replace table mariadb_j (n integer, t varchar, d date)");
    }
    c.setAutoCommit(false);
    batch(c);
    c.rollback();
    int after = count(c);
    batch(c);
    c.commit();
    System.out.println("rows " + after + " " + count(c));
    c.setAutoCommit(true);
    try (Statement s = c.createStatement()) {
      s.execute("drop table mariadb_j");
    }
  }

  static void batch(Connection c) throws SQLException {
    try (PreparedStatement s = c.prepareStatement("insert into mariadb_j values (?, ?, ?)")) {
      for (int n = 0; n < 3; n++) {
        s.setInt(1, n);
        s.setString(2, n == 1 ? null : "it's \\ " + n);
        s.setDate(3, Date.valueOf("2024-02-29"));
        s.addBatch();
      }
      s.executeBatch();
    }
  }

  static int count(Connection c) throws SQLException {
    try (Statement s = c.createStatement();
        ResultSet r = s.executeQuery("select count(*) from mariadb_j where d = date '2024-02-29'")) {
      r.next();
      return r.getInt(1);
    }
  }

  static void metadata(Connection c) throws SQLException {
    DatabaseMetaData m = c.getMetaData();
    String db = c.getCatalog();
    try (ResultSet r = m.getTables(db, null, "cust%", null)) {
      while (r.next()) System.out.println("table " + r.getString(3) + " " + r.getString(4));
    }
    try (ResultSet r = m.getColumns(db, null, "customers", "customer_id")) {
      while (r.next()) System.out.println("column " + r.getString(4) + " " + r.getString(6));
    }
    for (ResultSet rows : new ResultSet[] {m.getCatalogs(), m.getSchemas(), m.getTableTypes(),
        m.getTypeInfo(), m.getPrimaryKeys(db, null, "customers"),
        m.getIndexInfo(db, null, "customers", false, true),
        m.getImportedKeys(db, null, "customers"), m.getExportedKeys(db, null, "customers"),
        m.getProcedures(db, null, "%"), m.getFunctions(db, null, "%")}) {
      rows.next();
      rows.close();
    }
  }

  static void errors(Connection c) {
    for (String sql : new String[] {"select * from no_such_table", "selec 1"}) {
      try (Statement s = c.createStatement()) {
        s.execute(sql);
      } catch (SQLException e) {
        System.out.println("error " + e.getErrorCode() + " " + e.getSQLState());
      }
    }
  }
}
