import java.sql.*;
import java.util.ArrayList;
import java.util.List;

/** Every row that pgjdbc's metadata has of one schema, a line each: `java pgjdbcMetadata.java URL SCHEMA`. */
class PgjdbcMetadata {
  interface Asking {
    ResultSet rows() throws SQLException;
  }

  public static void main(String[] args) throws Exception {
    String schema = args[1];
    try (Connection c = DriverManager.getConnection(args[0])) {
      DatabaseMetaData m = c.getMetaData();
      System.out.println("product: " + m.getDatabaseProductName());
      System.out.println("default isolation: " + m.getDefaultTransactionIsolation());
      System.out.println("name length: " + m.getMaxColumnNameLength());
      System.out.println("keywords: " + m.getSQLKeywords());
      show("table", () -> m.getTables(null, schema, "%", null));
      show("column", () -> m.getColumns(null, schema, "%", "%"));
      for (String table : List.of("customer", "sale", "shown_view")) {
        show("key of " + table, () -> m.getPrimaryKeys(null, schema, table));
        show("index of " + table, () -> m.getIndexInfo(null, schema, table, false, true));
        show("imported by " + table, () -> m.getImportedKeys(null, schema, table));
        show("exported by " + table, () -> m.getExportedKeys(null, schema, table));
        show("row of " + table, () -> m.getBestRowIdentifier(null, schema, table, 0, true));
        show("version of " + table, () -> m.getVersionColumns(null, schema, table));
        show("privilege on " + table, () -> m.getTablePrivileges(null, schema, table));
        show("column privilege on " + table, () -> m.getColumnPrivileges(null, schema, table, "%"));
      }
      show("reference", () -> m.getCrossReference(null, schema, "customer", null, schema, "sale"));
      show("schema", () -> m.getSchemas(null, schema));
      show("table type", m::getTableTypes);
      show("function", () -> m.getFunctions(null, schema, "%"));
      show("procedure", () -> m.getProcedures(null, schema, "%"));
      show("own type", () -> m.getUDTs(null, schema, "%", null));
      show("client property", m::getClientInfoProperties);
      show("type", m::getTypeInfo);
      rows(c, schema);
    }
  }

  /** What a result says of its own columns. */
  static void rows(Connection c, String schema) throws SQLException {
    try (Statement s = c.createStatement();
        ResultSet r = s.executeQuery("select * from " + schema + ".sale where false")) {
      ResultSetMetaData m = r.getMetaData();
      for (int i = 1; i <= m.getColumnCount(); i++) {
        System.out.println("result column: " + m.getColumnName(i) + " " + m.getColumnTypeName(i));
      }
    }
  }

  static void show(String what, Asking asking) {
    List<String> lines = new ArrayList<>();
    try (ResultSet r = asking.rows()) {
      int count = r.getMetaData().getColumnCount();
      while (r.next()) {
        StringBuilder line = new StringBuilder(what + ":");
        for (int i = 1; i <= count; i++) {
          line.append(' ').append(r.getMetaData().getColumnLabel(i)).append('=').append(r.getString(i));
        }
        lines.add(line.toString());
      }
    } catch (SQLException e) {
      lines.add(what + ": " + e.getSQLState() + " " + e.getMessage());
    }
    lines.forEach(System.out::println);
  }
}
