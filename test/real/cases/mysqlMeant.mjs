/** What drivers of MySQL's family are told differently through the gateway, and why. */

const text = /\b(?:VARCHAR|(?:TINY|MEDIUM|LONG)?TEXT)\b/g;
const lengths = /^(?:getColumnDisplaySize|getPrecision):.*$/gm;
const writable = /^is(?:DefinitelyWritable|ReadOnly|Writable):.*$/gm;
/** Both of the types that a text has for JDBC. */
const textType = /(?<=^getColumnType:.*) (?:12|-1)(?= |$)/gm;
const asText = [lengths, /^isCaseSensitive:.*$/gm, text, textType];
/** What a result says of its columns. */
const described = String.raw`: (?:columns before|columns and rows (?:as text )?of) `;
const about = (sql) => new RegExp(described + sql);

/**
 * `of` is compared with the way and the question; with `without`, what stands there is left out of both answers,
 * which are then equal. `on` and `by` are the only server and driver that it is about. What is there `sometimes` may
 * be missing.
 */
const meant = [
  { why: "the address is part of it", of: /: getURL$/ },
  {
    why: "the gateway says as whom a client logged in, and from where",
    by: "Connector/J",
    of: /: getUserName$/,
  },
  {
    why: "the greeting goes out before it is known which server will answer: it says MySQL 8.4",
    of: /: getDatabase(?:MajorVersion|MinorVersion|ProductName|ProductVersion)$/,
  },
  {
    why: "a driver that believes the greeting lists the types and limits of MySQL",
    on: "MariaDB",
    of: /: getTypeInfo$|: getSQLKeywords$|: a time limit$/,
  },
  {
    why: "and tells the length of a time with its fractions, which it does not of the MariaDB that it takes for a MySQL 5.5",
    on: "MariaDB",
    by: "Connector/J",
    of: /: getColumns /,
    without: [/\b\d+\|\d+\b/g],
  },
  {
    why: "and asks for a row's identity in another way, with another length of its last column",
    on: "MariaDB",
    by: "MariaDB Connector/J",
    of: /: getBestRowIdentifier /,
    without: [lengths],
  },
  {
    why: "MariaDB's own command for batches is not spoken: they go statement by statement, up to each one's end",
    on: "MariaDB",
    by: "MariaDB Connector/J",
    of: /: a batch that fails in the middle$|: what was written$/,
  },
  {
    why: "MariaDB says to clients of its own protocol that a text is JSON, and which kind a geometry is",
    on: "MariaDB",
    by: "MariaDB Connector/J",
    of: about(String.raw`select \* from every`),
    without: [/\b(?:JSON|LONGTEXT|POINT|GEOMETRY)\b/g, lengths],
  },
  {
    why: "a limit of time is the gateway's own, which ends a sleep with an error",
    on: "MySQL",
    by: "MariaDB Connector/J",
    of: /: a time limit$/,
  },
  {
    why: "what a procedure gives back in a user variable would be lost, and is refused",
    of: /: a procedure with a value to bring back$/,
  },
  {
    why: "what the session answers itself says of a text its longest length, and of no number that it can not be NULL",
    of: new RegExp(`: another database$|${about(String.raw`select database\(\)`).source}`),
    without: [
      lengths,
      text,
      writable,
      /^(?:getScale|isNullable):.*$/gm,
      /java.sql.SQLWarning: FOUND_ROWS\(\).*$|null$/g,
    ],
  },
  {
    why: "a list of variables of which the session has some itself is a table of no database",
    of: about("show variables"),
    without: [
      lengths,
      text,
      writable,
      /^get(?:Catalog|Schema|Table)Name:.*$/gm,
      /^(?:getColumnName|isNullable):.*$/gm,
    ],
  },
  {
    why: "results are utf8mb4 for everybody: lengths and comparison are those of that set, whatever the table's is",
    by: "Connector/J",
    of: about("(?:select|show|describe|explain) "),
    without: asText,
  },
  {
    why: "connections of the engine have IGNORE_SPACE, which takes what is written without it as well",
    by: "Connector/J",
    of: about("select @@(?:session.)?sql_mode"),
    without: [...asText, /IGNORE_SPACE,/g],
  },
  {
    why: "the isolation is answered by MySQL's name for it, which a MariaDB before 11.1 does not know",
    on: "MariaDB",
    of: /select @@sql_mode, /,
  },
  {
    why: "how many rows a table has is an estimate, which a server makes anew when it likes",
    on: "MariaDB",
    of: /: getIndexInfo |show (?:index from sale|table status)/,
    without: [...asText, /\b\d+\|\d+\b/g],
    sometimes: true,
  },
  {
    why: "a parameter is a literal of its type here, whose length and type a server knows better",
    of: about(String.raw`select \? as given`),
    without: [
      ...asText,
      writable,
      /^(?:getColumn(?:ClassName|Type|TypeName)|isNullable|isSigned):.*$/gm,
    ],
  },
  {
    why: "FOUND_ROWS() of a MariaDB knows nothing of a cursor's rows",
    on: "MariaDB",
    by: "Connector/J",
    of: /^with cursors: columns and rows as text of select database/,
    without: [/^(?:get|is)\w+:.*$/gm, /\b[01]\|[01], *$/gm],
  },
  {
    why: "a server's cursor shows its columns as those of a table it made for them",
    by: "Connector/J",
    of: /^with cursors: /,
    without: [/^(?:get|is)\w+:.*$/gm, /IGNORE_SPACE,/g],
  },
  {
    why: "a database without a name is none",
    on: "MySQL",
    by: "MariaDB Connector/J",
    of: /: scrolled and changed show tables$/,
  },
];

/** The reasons that are about a driver and a server. */
export function meantOf(driver, server) {
  return meant.filter(({ on = server, by = driver }) => on === server && by === driver);
}
