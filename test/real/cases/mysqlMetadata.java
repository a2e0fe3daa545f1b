import java.lang.reflect.*;
import java.sql.*;
import java.util.*;
import java.util.stream.*;

/**
 * All that a driver of MySQL's family tells of a database and of statements, over each of two addresses; prints what
 * differs: `java mysqlMetadata.java (WAY DIRECT THROUGH)…`. A way is a name for the options in its addresses.
 */
public class mysqlMetadata {
  static final String schema = "demo";

  public static void main(String[] args) throws Exception {
    for (int at = 0; at + 2 < args.length; at += 3) {
      Map<String, String> direct = told(args[at + 1]), through = told(args[at + 2]);
      for (String name : direct.keySet()) {
        if (direct.get(name).equals(through.get(name))) continue;
        System.out.println("DIFFERENT " + args[at] + ": " + name + "\n  direct " + direct.get(name) + "\n  through " + through.get(name));
      }
      System.out.println("compared " + direct.size());
    }
  }

  static Map<String, String> told(String url) throws Exception {
    Map<String, String> told = new TreeMap<>();
    try (Connection c = DriverManager.getConnection(url)) {
      DatabaseMetaData data = c.getMetaData();
      scalars(told, data);
      tables(told, data);
      keys(told, data);
      routines(told, data);
      for (String sql : queries) statement(told, c, sql);
      writes(told, c);
      calls(told, c);
      session(told, c);
      for (String sql : failing) ask(told, "the failure of " + sql, () -> c.createStatement().execute(sql));
    }
    return told;
  }

  /** Every method without arguments, and with a number where one is enough. */
  static void scalars(Map<String, String> told, DatabaseMetaData data) {
    for (Method method : DatabaseMetaData.class.getMethods()) {
      Class<?>[] takes = method.getParameterTypes();
      if (Modifier.isStatic(method.getModifiers()) || method.getReturnType() == Connection.class) continue;
      if (takes.length == 0) ask(told, method.getName(), () -> method.invoke(data));
      if (Arrays.equals(takes, new Class<?>[] {int.class}))
        ask(told, method.getName() + " of each", () -> IntStream.range(0, 1010).mapToObj(n -> said(() -> method.invoke(data, n))).collect(Collectors.joining()));
    }
    ask(told, "supportsConvert of each", () -> {
      StringBuilder text = new StringBuilder();
      for (JDBCType from : JDBCType.values()) for (JDBCType to : JDBCType.values()) text.append(data.supportsConvert(from.getVendorTypeNumber(), to.getVendorTypeNumber()) ? '1' : '0');
      return text;
    });
    for (int type = 1003; type <= 1005; type++)
      for (int concurrency = 1007; concurrency <= 1008; concurrency++) {
        int kind = type, way = concurrency;
        ask(told, "supportsResultSetConcurrency " + type + " " + concurrency, () -> data.supportsResultSetConcurrency(kind, way));
      }
  }

  static void tables(Map<String, String> told, DatabaseMetaData data) {
    for (String pattern : new String[] {null, "", "dem_", "DEMO", "nowhere"}) {
      ask(told, "getSchemas of " + pattern, () -> data.getSchemas(null, pattern));
      ask(told, "getSchemas in " + pattern, () -> data.getSchemas(pattern, null));
      ask(told, "getTables in " + pattern, () -> data.getTables(pattern, null, "sal%", null));
      ask(told, "getTables of schema " + pattern, () -> data.getTables(null, pattern, "sal%", null));
    }
    for (String[] kinds : new String[][] {null, {"VIEW"}, {"TABLE", "NOTHING"}, {"TABLE", "VIEW", "BASE TABLE"}, {}})
      for (String pattern : new String[] {null, "cust%", "CUST%", "odd na\\_me", "it's", "%"})
        ask(told, "getTables " + pattern + " " + Arrays.toString(kinds), () -> data.getTables(schema, schema, pattern, kinds));
    ask(told, "getTables of information_schema", () -> data.getTables("information_schema", "information_schema", "COLUMN%", null));
    for (String table : new String[] {"every", "customer", "sal%", "odd na\\_me", "shown", "nothing", null})
      for (String column : new String[] {null, "%id", "nothing"})
        ask(told, "getColumns " + table + " " + column, () -> data.getColumns(schema, schema, table, column));
    ask(told, "getColumns of information_schema", () -> data.getColumns("information_schema", "information_schema", "SCHEMATA", "%"));
    ask(told, "getColumns of everything", () -> data.getColumns(null, null, "sale", null));
    for (String table : new String[] {"customer", "sale", "nothing"}) {
      ask(told, "getTablePrivileges " + table, () -> data.getTablePrivileges(schema, schema, table));
      ask(told, "getColumnPrivileges " + table, () -> data.getColumnPrivileges(schema, schema, table, "%"));
      ask(told, "getPseudoColumns " + table, () -> data.getPseudoColumns(schema, schema, table, "%"));
    }
    ask(told, "getAttributes", () -> data.getAttributes(schema, schema, "%", "%"));
    ask(told, "getSuperTypes", () -> data.getSuperTypes(schema, schema, "%"));
    ask(told, "getSuperTables", () -> data.getSuperTables(schema, schema, "%"));
    ask(told, "getUDTs", () -> data.getUDTs(schema, schema, "%", null));
  }

  static void keys(Map<String, String> told, DatabaseMetaData data) {
    for (String table : new String[] {"customer", "sale", "sale_line", "every", "odd na_me", "it's", "shown", "nothing"}) {
      ask(told, "getPrimaryKeys " + table, () -> data.getPrimaryKeys(schema, schema, table));
      ask(told, "getImportedKeys " + table, () -> data.getImportedKeys(schema, schema, table));
      ask(told, "getExportedKeys " + table, () -> data.getExportedKeys(schema, schema, table));
      ask(told, "getCrossReference " + table, () -> data.getCrossReference(schema, schema, "customer", schema, schema, table));
      ask(told, "getVersionColumns " + table, () -> data.getVersionColumns(schema, schema, table));
      for (int scope = 0; scope < 3; scope++) {
        int within = scope;
        ask(told, "getBestRowIdentifier " + table + " " + scope, () -> data.getBestRowIdentifier(schema, schema, table, within, true));
      }
      for (boolean unique : new boolean[] {true, false})
        ask(told, "getIndexInfo " + table + " " + unique, () -> data.getIndexInfo(schema, schema, table, unique, true));
    }
    ask(told, "getPrimaryKeys of null", () -> data.getPrimaryKeys(null, null, "customer"));
  }

  static void routines(Map<String, String> told, DatabaseMetaData data) {
    for (String pattern : new String[] {null, "add%", "nothing"}) {
      ask(told, "getProcedures " + pattern, () -> data.getProcedures(schema, schema, pattern));
      ask(told, "getProcedureColumns " + pattern, () -> data.getProcedureColumns(schema, schema, pattern, "%"));
      ask(told, "getFunctions " + pattern, () -> data.getFunctions(schema, schema, pattern));
      ask(told, "getFunctionColumns " + pattern, () -> data.getFunctionColumns(schema, schema, pattern, null));
    }
  }

  static final String[] queries = {
    "select * from every order by id",
    "select id, name as called, c.name, count(*) as n from customer c group by id, name having count(*) > ? order by 1 limit ?",
    "select s.*, l.* from sale s left join sale_line l on l.sale_id = s.id where s.customer_id = ? or s.note like ? order by s.id, l.line",
    "select ? as given, ? + 1 as more, concat('x', ?) as text",
    "select 1, 1.5, 1e0, 'x', null, true, date '2024-02-29', time '10:00:00', timestamp '2024-02-29 23:59:59.123456', x'00ff', b'101', cast('{}' as json)",
    "select count(*), sum(amount), avg(amount), max(at), group_concat(note order by id) from sale",
    "select * from shown where id = ?",
    "select * from `odd na_me` union all select * from `odd na_me`",
    "select * from every where false",
    "show tables",
    "show full columns from customer",
    "show create table sale",
    "describe sale",
    "explain select * from customer where id = ?",
    "show variables like 'lower_case_table_names'",
    "show collation like 'latin1_swedish_ci'",
    "show engines",
    "show index from sale",
    "show table status like 'customer'",
    "select @@sql_mode, @@auto_increment_increment, @@transaction_isolation",
    "select @@session.sql_mode as mode, @@max_allowed_packet > 0 as some, @@lower_case_table_names as names",
    "select database(), schema(), last_insert_id(), row_count(), found_rows()",
    "select distinct table_schema from information_schema.tables where table_type != 'SYSTEM VIEW' order by table_schema",
  };

  static final String[] failing = {
    "selec 1", "select * from nowhere", "select nothing from customer", "insert into customer (id, name) values (1, 'again')", "insert into sale (id, customer_id) values (99, 99)",
    "select * from elsewhere.t", "insert into customer (name) values (null)", "insert into customer (name) values ('much too long for the column, which has no more than forty characters')",
    "update customer set id = 'x' where id = 1", "call nothing()", "use nowhere", "drop table nothing", "select cast(1 as nothing)", "set @@nothing = 1", "select @@nothing",
  };

  static void statement(Map<String, String> told, Connection c, String sql) {
    ask(told, "parameters of " + sql, () -> {
      try (PreparedStatement s = c.prepareStatement(sql)) {
        ParameterMetaData given = s.getParameterMetaData();
        return given.getParameterCount() + " " + each(given, ParameterMetaData.class, given.getParameterCount());
      }
    });
    ask(told, "columns before " + sql, () -> {
      try (PreparedStatement s = c.prepareStatement(sql)) {
        return s.getMetaData() == null ? null : columns(s.getMetaData());
      }
    });
    ask(told, "columns and rows of " + sql, () -> {
      try (PreparedStatement s = c.prepareStatement(sql)) {
        long places = sql.chars().filter(one -> one == '?').count();
        for (int i = 1; i <= places; i++) if (i == 2 && sql.contains("like")) s.setString(i, "it%"); else s.setInt(i, i == 1 && sql.contains("having") ? 0 : i);
        return read(s.executeQuery());
      }
    });
    if (sql.contains("?")) return;
    ask(told, "columns and rows as text of " + sql, () -> {
      try (Statement s = c.createStatement()) {
        return read(s.executeQuery(sql)) + "\n" + s.getWarnings();
      }
    });
    ask(told, "scrolled and changed " + sql, () -> {
      try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE); ResultSet r = s.executeQuery(sql)) {
        return r.last() + " " + r.getRow() + " " + r.getConcurrency() + " " + r.getType() + " " + r.getHoldability() + " " + r.getFetchSize();
      }
    });
  }

  static void writes(Map<String, String> told, Connection c) {
    String[] steps = {"drop table if exists written", "create table written (id int auto_increment primary key, n int unique, t varchar(20) default 'x')",
      "insert into written (n) values (1), (2), (3)", "update written set t = 'x'", "update written set t = 'y' where n < 3", "insert ignore into written (n) values (1)",
      "insert into written (n) values (9) on duplicate key update t = 'z'", "insert into written (n) values (9) on duplicate key update t = 'z' ", "replace into written (n) values (2)",
      "delete from written where n = 3", "truncate table written"};
    for (String sql : steps) ask(told, "counts of " + sql, () -> {
      try (Statement s = c.createStatement()) {
        return s.executeUpdate(sql, Statement.RETURN_GENERATED_KEYS) + " " + read(s.getGeneratedKeys()) + " " + s.getWarnings();
      }
    });
    ask(told, "a batch with keys", () -> {
      try (PreparedStatement s = c.prepareStatement("insert into written (n, t) values (?, ?)", Statement.RETURN_GENERATED_KEYS)) {
        for (int n = 10; n < 14; n++) {
          s.setInt(1, n);
          if (n == 11) s.setNull(2, Types.VARCHAR); else s.setString(2, "it's \\ \"" + n);
          s.addBatch();
        }
        return Arrays.toString(s.executeBatch()) + " " + read(s.getGeneratedKeys());
      }
    });
    ask(told, "a batch that fails in the middle", () -> {
      try (PreparedStatement s = c.prepareStatement("insert into written (n) values (?)")) {
        for (int n : new int[] {20, 10, 21}) {
          s.setInt(1, n);
          s.addBatch();
        }
        return Arrays.toString(s.executeBatch());
      } catch (BatchUpdateException e) {
        return Arrays.toString(e.getUpdateCounts()) + " " + e.getErrorCode();
      }
    });
    ask(told, "a row changed through its result", () -> {
      try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.CONCUR_UPDATABLE); ResultSet r = s.executeQuery("select id, n, t from written order by id")) {
        r.next();
        r.updateString("t", "changed");
        r.updateRow();
        r.moveToInsertRow();
        r.updateInt("n", 77);
        r.insertRow();
        return "changed";
      }
    });
    ask(told, "what was written", () -> read(c.createStatement().executeQuery("select * from written order by id")));
    ask(told, "the end of what was written", () -> c.createStatement().executeUpdate("drop table written"));
  }

  static void calls(Map<String, String> told, Connection c) {
    ask(told, "a function called", () -> {
      try (CallableStatement s = c.prepareCall("{? = call added(?, ?)}")) {
        s.registerOutParameter(1, Types.INTEGER);
        s.setInt(2, 3);
        s.setInt(3, 4);
        s.execute();
        return s.getInt(1);
      }
    });
    ask(told, "a procedure with a value to bring back", () -> {
      try (CallableStatement s = c.prepareCall("{call add_up(?, ?)}")) {
        s.setInt(1, 5);
        s.registerOutParameter(2, Types.INTEGER);
        s.execute();
        return s.getInt(2);
      }
    });
    ask(told, "parameters of a procedure", () -> {
      try (CallableStatement s = c.prepareCall("{call add_up(?, ?)}")) {
        ParameterMetaData given = s.getParameterMetaData();
        return each(given, ParameterMetaData.class, given.getParameterCount());
      }
    });
    ask(told, "a procedure with rows", () -> {
      try (CallableStatement s = c.prepareCall("{call add_rows()}")) {
        return read(s.executeQuery());
      }
    });
    ask(told, "a procedure without rows", () -> c.createStatement().executeUpdate("call add_none()"));
  }

  static void session(Map<String, String> told, Connection c) {
    ask(told, "catalog and schema", () -> c.getCatalog() + " " + c.getSchema());
    ask(told, "isolation", () -> {
      int before = c.getTransactionIsolation();
      StringBuilder text = new StringBuilder("" + before);
      for (int level : new int[] {1, 2, 4}) text.append(' ').append(isolatedBy(c, level));
      c.setTransactionIsolation(before);
      return text;
    });
    ask(told, "serializable", () -> isolatedBy(c, Connection.TRANSACTION_SERIALIZABLE));
    ask(told, "read only", () -> {
      c.setReadOnly(true);
      try {
        return c.createStatement().executeUpdate("update customer set name = name where id = 1");
      } finally {
        c.setReadOnly(false);
      }
    });
    ask(told, "a transaction with a savepoint", () -> {
      c.setAutoCommit(false);
      try (Statement s = c.createStatement()) {
        s.executeUpdate("insert into sale_line (sale_id, line, price) values (2, 9, 1)");
        Savepoint point = c.setSavepoint("here");
        c.rollback(point);
        return read(s.executeQuery("select count(*) from sale_line"));
      } finally {
        c.rollback();
        c.setAutoCommit(true);
      }
    });
    ask(told, "another database", () -> {
      String before = c.getCatalog();
      c.setCatalog("information_schema");
      String there = read(c.createStatement().executeQuery("select database()")) + c.getCatalog();
      c.setCatalog(before);
      return there;
    });
    ask(told, "client info", () -> c.getClientInfo("ApplicationName"));
    ask(told, "valid", () -> c.isValid(5) + " " + c.getHoldability() + " " + c.getTypeMap() + " " + c.nativeSQL("select {fn now()}, {d '2024-01-01'}"));
    ask(told, "several results", () -> {
      try (Statement s = c.createStatement()) {
        StringBuilder text = new StringBuilder();
        boolean rows = s.execute("select 1 as a; update customer set name = name; select 2 as b");
        while (rows || s.getUpdateCount() != -1) {
          text.append(rows ? read(s.getResultSet()) : "" + s.getUpdateCount());
          rows = s.getMoreResults();
        }
        return text;
      }
    });
    ask(told, "no more rows than asked for", () -> {
      Statement s = c.createStatement();
      s.setMaxRows(2);
      return s.executeQuery("select id from customer order by id");
    });
    ask(told, "rows one by one", () -> {
      Statement s = c.createStatement();
      s.setFetchSize(Integer.MIN_VALUE);
      return s.executeQuery("select id, name from customer order by id");
    });
    ask(told, "a time limit", () -> {
      Statement s = c.createStatement();
      s.setQueryTimeout(1);
      return s.executeQuery("select sleep(30)");
    });
  }

  static int isolatedBy(Connection c, int level) throws SQLException {
    c.setTransactionIsolation(level);
    return c.getTransactionIsolation();
  }

  interface Asked {
    Object answer() throws Exception;
  }

  static void ask(Map<String, String> told, String name, Asked asked) {
    String text = said(asked);
    // A driver's question leaves open which of these comes first.
    if (name.matches("get(?:BestRow|Cross|Exported|Imported|Primary).*")) text = text.lines().map(String::trim).sorted().collect(Collectors.joining("\n"));
    if (told.put(name, text) != null) throw new IllegalStateException("asked twice: " + name);
  }

  static String said(Asked asked) {
    try {
      Object answer = asked.answer();
      return answer instanceof ResultSet found ? read(found) : textOf(answer);
    } catch (Exception e) {
      Throwable cause = e instanceof InvocationTargetException && e.getCause() != null ? e.getCause() : e;
      String text = "failed " + cause.getClass().getSimpleName();
      if (cause instanceof SQLException sql) text += " " + sql.getErrorCode() + " " + sql.getSQLState() + " " + ("" + sql.getMessage()).replaceAll("\\(conn=\\d+\\) ", "").replaceAll(" \\(query \\w+\\)", "");
      return text;
    }
  }

  static String read(ResultSet rows) throws SQLException {
    return columns(rows.getMetaData()) + rows(rows);
  }

  /** What every method of ResultSetMetaData says, a line for each method. */
  static String columns(ResultSetMetaData data) throws SQLException {
    return each(data, ResultSetMetaData.class, data.getColumnCount());
  }

  static String each(Object data, Class<?> type, int count) {
    StringBuilder text = new StringBuilder();
    Stream.of(type.getMethods()).filter(one -> Arrays.equals(one.getParameterTypes(), new Class<?>[] {int.class})).sorted(Comparator.comparing(Method::getName)).forEach(method -> {
      text.append(method.getName()).append(':');
      for (int i = 1; i <= count; i++) {
        int at = i;
        text.append(' ').append(said(() -> method.invoke(data, at)));
      }
      text.append('\n');
    });
    return text.toString();
  }

  static String rows(ResultSet rows) throws SQLException {
    StringBuilder text = new StringBuilder();
    int width = rows.getMetaData().getColumnCount();
    while (rows.next()) {
      for (int i = 1; i <= width; i++) {
        int at = i;
        text.append(said(() -> rows.getObject(at))).append('|').append(said(() -> rows.getString(at))).append(", ");
      }
      text.append('\n');
    }
    return text.toString();
  }

  /** Without what would cut a line. */
  static String plain(String text) {
    return text == null ? "null" : text.replaceAll("[\\x00-\\x09\\x0b-\\x1f]", "?");
  }

  static String textOf(Object value) throws Exception {
    if (value instanceof byte[] bytes) return HexFormat.of().formatHex(bytes);
    if (value instanceof Blob blob) return "blob " + HexFormat.of().formatHex(blob.getBytes(1, (int) blob.length()));
    if (value instanceof Clob clob) return "clob " + clob.getSubString(1, (int) clob.length());
    return plain(String.valueOf(value));
  }
}
