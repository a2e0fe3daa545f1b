import java.sql.*;
import java.util.*;
import java.util.zip.CRC32;

/**
 * Results that a driver fetches piece by piece, over each of two addresses; prints what differs:
 * `java mysqlCursors.java ADMIN (WAY DIRECT THROUGH)…`. ADMIN is the server itself, which counts fetches.
 */
class MysqlCursors {
  static final int rows = 5000;
  /** Fetches of a server's cursor while a question was asked; none where the driver reads rows as they come. */
  static final Map<String, Long> fetches = new HashMap<>();
  static Connection admin;

  public static void main(String[] args) throws Exception {
    admin = DriverManager.getConnection(args[0]);
    for (int at = 1; at + 2 < args.length; at += 3) {
      Map<String, String> direct = told(args[at + 1], "direct "), through = told(args[at + 2], "through ");
      for (String name : direct.keySet()) {
        if (direct.get(name).equals(through.get(name))) continue;
        System.out.println("DIFFERENT " + args[at] + ": " + name + "\n  direct " + direct.get(name) + "\n  through " + through.get(name));
      }
      // Whoever reads all rows at once is told the same: that they came in pieces is seen by the server alone.
      if (args[at + 1].contains("useCursorFetch=true"))
        for (String name : direct.keySet())
          if (fetches.getOrDefault("direct " + name, 0L) > 0 && fetches.get("through " + name) == 0)
            System.out.println("DIFFERENT " + args[at] + ": no cursor for " + name);
      System.out.println("compared " + direct.size() + ", " + fetches.values().stream().mapToLong(n -> n).sum() + " fetches");
      fetches.clear();
    }
  }

  static Map<String, String> told(String url, String way) throws Exception {
    Map<String, String> told = new TreeMap<>();
    try (Connection c = DriverManager.getConnection(url)) {
      try (Statement s = c.createStatement()) {
        s.execute("drop table if exists fetched, fetched_into");
        s.execute("create table fetched (n int primary key, t varchar(60), d decimal(20,4)) default charset utf8mb4");
        s.execute("create table fetched_into (n int, t varchar(60)) default charset utf8mb4");
      }
      fill(c);
      Map<String, Asked> all = new LinkedHashMap<>();
      pieces(all, c);
      beside(all, c);
      ends(all, c, url);
      transactions(all, c);
      for (String name : all.keySet()) {
        long before = fetched();
        told.put(name, said(all.get(name)));
        fetches.put(way + name, fetched() - before);
        // Whatever it left open: the next question begins at rest.
        said(() -> {
          if (!c.getAutoCommit()) c.rollback();
          c.setAutoCommit(true);
          return null;
        });
      }
      c.createStatement().execute("drop table fetched, fetched_into");
    }
    leaving(told, url);
    return told;
  }

  static void fill(Connection c) throws SQLException {
    c.setAutoCommit(false);
    try (PreparedStatement s = c.prepareStatement("insert into fetched values (?, ?, ?)")) {
      for (int n = 0; n < rows; n++) {
        s.setInt(1, n);
        s.setString(2, n % 7 == 0 ? null : "it's \\ ä " + "x".repeat(n % 40));
        s.setString(3, n + ".25");
        s.addBatch();
      }
      s.executeBatch();
    }
    c.commit();
    c.setAutoCommit(true);
  }

  static void pieces(Map<String, Asked> all, Connection c) {
    for (int size : new int[] {1, 7, 100, 999, 1000, 1001, 100_000})
      all.put("1000 rows, " + size + " at a time", () -> {
        try (PreparedStatement s = c.prepareStatement("select * from fetched where n < ? order by n")) {
          s.setFetchSize(size);
          s.setInt(1, 1000);
          return summed(s.executeQuery());
        }
      });
    all.put("all rows by the size of the address", () -> {
      try (PreparedStatement s = c.prepareStatement("select * from fetched order by n")) {
        return s.getFetchSize() + " " + summed(s.executeQuery());
      }
    });
    all.put("all rows of a text", () -> {
      try (Statement s = c.createStatement()) {
        return s.getFetchSize() + " " + summed(s.executeQuery("select * from fetched order by n desc"));
      }
    });
    all.put("rows of 100 kB", () -> {
      try (PreparedStatement s = c.prepareStatement("select n, repeat(char(97 + n % 26), 100000) from fetched where n < 200 order by n")) {
        s.setFetchSize(30);
        return summed(s.executeQuery());
      }
    });
    all.put("no row", () -> {
      try (PreparedStatement s = c.prepareStatement("select * from fetched where n < 0")) {
        s.setFetchSize(10);
        return summed(s.executeQuery()) + columns(s.getMetaData());
      }
    });
    all.put("no more than so many", () -> {
      try (PreparedStatement s = c.prepareStatement("select * from fetched order by n")) {
        s.setFetchSize(10);
        s.setMaxRows(25);
        return summed(s.executeQuery());
      }
    });
    all.put("every type", () -> {
      try (PreparedStatement s = c.prepareStatement("select * from every order by id")) {
        s.setFetchSize(2);
        return read(s.executeQuery());
      }
    });
    all.put("the size changes on the way", () -> {
      try (PreparedStatement s = c.prepareStatement("select n from fetched order by n limit 500")) {
        s.setFetchSize(3);
        ResultSet r = s.executeQuery();
        for (int n = 0; n < 10; n++) r.next();
        r.setFetchSize(50);
        return summed(r);
      }
    });
  }

  static void beside(Map<String, Asked> all, Connection c) {
    all.put("another statement between two fetches", () -> between(c, 100));
    all.put("another statement behind each row", () -> between(c, 1));
    all.put("three at once, in turn", () -> {
      List<PreparedStatement> statements = new ArrayList<>();
      List<ResultSet> results = new ArrayList<>();
      StringBuilder text = new StringBuilder();
      for (int n = 0; n < 3; n++) {
        PreparedStatement s = c.prepareStatement("select n, t from fetched where n >= ? order by n limit 60");
        s.setFetchSize(10 + n);
        s.setInt(1, n * 100);
        statements.add(s);
        results.add(s.executeQuery());
      }
      for (boolean some = true; some; ) {
        some = false;
        for (ResultSet r : results)
          if (r.next()) {
            some = true;
            text.append(r.getInt(1)).append(r.getString(2)).append(' ');
          }
      }
      for (PreparedStatement s : statements) s.close();
      return text;
    });
    all.put("executed again while its rows are left", () -> {
      try (PreparedStatement s = c.prepareStatement("select n from fetched where n >= ? order by n limit 40")) {
        s.setFetchSize(10);
        StringBuilder text = new StringBuilder();
        for (int n = 0; n < 4; n++) {
          s.setInt(1, n * 1000);
          ResultSet r = s.executeQuery();
          for (int i = 0; i < 15 && r.next(); i++) text.append(r.getInt(1)).append(' ');
          if (n % 2 == 0) r.close();
        }
        return text;
      }
    });
    all.put("rows that change on the way", () -> {
      try (PreparedStatement s = c.prepareStatement("select n, t from fetched order by n limit 200"); Statement w = c.createStatement()) {
        s.setFetchSize(10);
        ResultSet r = s.executeQuery();
        r.next();
        w.executeUpdate("update fetched set t = 'changed' where n between 100 and 150");
        String text = summed(r);
        for (int n = 100; n <= 150; n++) w.executeUpdate("update fetched set t = " + (n % 7 == 0 ? "null" : "concat('it''s \\\\ ä ', repeat('x', " + n % 40 + "))") + " where n = " + n);
        return text;
      }
    });
    all.put("a table that is gone on the way", () -> {
      try (Statement w = c.createStatement()) {
        w.execute("create table fetched_gone as select n from fetched where n < 100");
        try (PreparedStatement s = c.prepareStatement("select n from fetched_gone order by n")) {
          s.setFetchSize(10);
          ResultSet r = s.executeQuery();
          r.next();
          w.execute("drop table fetched_gone");
          return summed(r);
        } finally {
          w.execute("drop table if exists fetched_gone");
        }
      }
    });
  }

  static String between(Connection c, int size) throws SQLException {
    StringBuilder text = new StringBuilder();
    try (PreparedStatement s = c.prepareStatement("select n, t from fetched where n < 500 order by n");
        PreparedStatement w = c.prepareStatement("insert into fetched_into values (?, ?)");
        Statement q = c.createStatement()) {
      q.executeUpdate("delete from fetched_into");
      s.setFetchSize(size);
      ResultSet r = s.executeQuery();
      for (int n = 0; n < 250 && r.next(); n++) {
        text.append(r.getInt(1)).append(r.getString(2)).append(' ');
        if (size > 1 && n % 50 != 3) continue;
        w.setInt(1, r.getInt(1));
        w.setString(2, r.getString(2));
        w.executeUpdate();
      }
      text.append(rowsOf(q.executeQuery("select count(*), sum(n), max(t) from fetched_into")));
      return text + summed(r);
    }
  }

  static void ends(Map<String, Asked> all, Connection c, String url) {
    all.put("closed early, again and again", () -> {
      StringBuilder text = new StringBuilder();
      for (int n = 0; n < 40; n++)
        try (PreparedStatement s = c.prepareStatement("select n from fetched where n >= ? order by n")) {
          s.setFetchSize(5);
          s.setInt(1, n);
          ResultSet r = s.executeQuery();
          for (int i = 0; i < n % 8 + 1; i++) r.next();
          text.append(r.getInt(1)).append(' ');
          if (n % 2 == 0) r.close();
        }
      try (Statement s = c.createStatement()) {
        return text + rowsOf(s.executeQuery("select count(*) from fetched"));
      }
    });
    all.put("an error before the first row", () -> {
      // On a connection of its own: behind it a driver that speaks to the server does not know where it is any more.
      try (Connection own = DriverManager.getConnection(url);
          PreparedStatement s = own.prepareStatement("select n, (select n from fetched f where f.n < ?) from fetched")) {
        s.setFetchSize(5);
        s.setInt(1, 10);
        return rowsOf(s.executeQuery());
      }
    });
    all.put("warnings", () -> {
      try (PreparedStatement s = c.prepareStatement("select n, cast(concat(n, 'x') as unsigned) from fetched where n < 25 order by n")) {
        s.setFetchSize(10);
        String text = rowsOf(s.executeQuery());
        for (SQLWarning w = s.getWarnings(); w != null; w = w.getNextWarning()) text += " " + w.getErrorCode() + w.getMessage();
        return text;
      }
    });
  }

  static void transactions(Map<String, Asked> all, Connection c) {
    all.put("within a transaction", () -> {
      c.setAutoCommit(false);
      String text = between(c, 20);
      c.rollback();
      return text + rowsOf(c.createStatement().executeQuery("select count(*) from fetched_into"));
    });
    for (String end : List.of("commit", "rollback"))
      all.put("rows left at a " + end, () -> {
        c.setAutoCommit(false);
        try (PreparedStatement s = c.prepareStatement("select n, t from fetched order by n limit 300"); Statement w = c.createStatement()) {
          w.executeUpdate("insert into fetched values (-1, '" + end + "', 0)");
          s.setFetchSize(20);
          ResultSet r = s.executeQuery();
          for (int n = 0; n < 30; n++) r.next();
          if (end.equals("commit")) c.commit(); else c.rollback();
          String text = summed(r) + w.executeUpdate("delete from fetched where n < 0");
          c.commit();
          return text;
        }
      });
    all.put("more rows than fit at once, beside a change of each", () -> {
      c.setAutoCommit(false);
      try (PreparedStatement s = c.prepareStatement("select n, repeat('y', 30000) from fetched where n < 2000 order by n");
          PreparedStatement w = c.prepareStatement("update fetched set d = d + 1 where n = ?")) {
        s.setFetchSize(500);
        ResultSet r = s.executeQuery();
        int changed = 0;
        while (r.next())
          if (r.getInt(1) % 100 == 0) {
            w.setInt(1, r.getInt(1));
            changed += w.executeUpdate();
          }
        c.rollback();
        return changed;
      }
    });
    all.put("a savepoint between two fetches", () -> {
      c.setAutoCommit(false);
      try (PreparedStatement s = c.prepareStatement("select n from fetched order by n limit 50"); Statement w = c.createStatement()) {
        s.setFetchSize(10);
        ResultSet r = s.executeQuery();
        r.next();
        Savepoint point = c.setSavepoint("here");
        w.executeUpdate("delete from fetched where n < 20");
        c.rollback(point);
        return summed(r) + rowsOf(w.executeQuery("select count(*) from fetched"));
      }
    });
    all.put("what has no cursor", () -> {
      StringBuilder text = new StringBuilder();
      for (String sql : new String[] {"show tables like 'fetch%'", "insert into fetched_into values (1, 'x')", "call add_rows()", "explain select 1", "do 1", "select 1 from dual where 1 = 0 for update"})
        try (PreparedStatement s = c.prepareStatement(sql)) {
          s.setFetchSize(1);
          text.append(s.execute() ? rowsOf(s.getResultSet()) : "" + s.getUpdateCount()).append('\n');
        }
      return text;
    });
    all.put("beside a temporary table of the session", () -> {
      try (Statement w = c.createStatement(); PreparedStatement s = c.prepareStatement("select n, t from fetched order by n limit 100")) {
        w.execute("create temporary table fetched_own (n int)");
        s.setFetchSize(10);
        ResultSet r = s.executeQuery();
        while (r.next()) if (r.getInt(1) % 10 == 0) w.executeUpdate("insert into fetched_own values (" + r.getInt(1) + ")");
        return rowsOf(w.executeQuery("select count(*), sum(n) from fetched_own")) + w.executeUpdate("drop temporary table fetched_own");
      }
    });
  }

  /** Connections that are closed with rows left: more than there are behind, which then would not be there any more. */
  static void leaving(Map<String, String> told, String url) {
    told.put("left with rows left, again and again", said(() -> {
      StringBuilder text = new StringBuilder();
      for (int n = 0; n < 12; n++)
        try (Connection c = DriverManager.getConnection(url)) {
          PreparedStatement s = c.prepareStatement("select table_name from information_schema.columns where table_schema = 'information_schema' order by table_name");
          s.setFetchSize(5);
          ResultSet r = s.executeQuery();
          r.next();
          text.append(r.getString(1));
        }
      return text;
    }));
  }

  interface Asked {
    Object answer() throws Exception;
  }

  static String said(Asked asked) {
    try {
      return String.valueOf(asked.answer());
    } catch (SQLException e) {
      return "failed " + e.getErrorCode() + " " + e.getSQLState() + " " + ("" + e.getMessage()).replaceAll("\\(conn=\\d+\\) ", "").replaceAll(" \\(query \\w+\\)", "");
    } catch (Exception e) {
      return "failed " + e;
    }
  }

  static long fetched() throws SQLException {
    try (Statement s = admin.createStatement(); ResultSet r = s.executeQuery("show global status like 'Com_stmt_fetch'")) {
      r.next();
      return r.getLong(2);
    }
  }

  /** How many rows there were, and a sum of all values. */
  static String summed(ResultSet r) throws SQLException {
    CRC32 sum = new CRC32();
    int count = 0, width = r.getMetaData().getColumnCount();
    for (; r.next(); count++)
      for (int i = 1; i <= width; i++) sum.update((r.getString(i) + "|").getBytes(java.nio.charset.StandardCharsets.UTF_8));
    return count + " rows " + Long.toHexString(sum.getValue()) + " ";
  }

  static String rowsOf(ResultSet r) throws SQLException {
    StringBuilder text = new StringBuilder();
    int width = r.getMetaData().getColumnCount();
    while (r.next()) for (int i = 1; i <= width; i++) text.append(r.getString(i)).append('|');
    return text.toString();
  }

  /** How long a text may be is told of the set that it is sent in, and to some what a text or a geometry holds. */
  static String columns(ResultSetMetaData data) throws SQLException {
    StringBuilder text = new StringBuilder();
    for (int i = 1; i <= data.getColumnCount(); i++) text.append(data.getColumnLabel(i)).append(' ').append(data.getColumnTypeName(i).replaceAll("\\w*TEXT|JSON|POINT|GEOMETRY", "TEXT")).append(' ').append(data.getColumnClassName(i)).append(", ");
    return text.toString();
  }

  static String read(ResultSet r) throws SQLException {
    StringBuilder text = new StringBuilder(columns(r.getMetaData())).append('\n');
    int width = r.getMetaData().getColumnCount();
    while (r.next()) {
      for (int i = 1; i <= width; i++) {
        int at = i;
        text.append(said(() -> value(r.getObject(at)))).append('|').append(said(() -> r.getString(at))).append(", ");
      }
      text.append('\n');
    }
    return text.toString();
  }

  static Object value(Object value) {
    return value instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : value;
  }
}
