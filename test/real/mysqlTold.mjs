/** The tables of which clients of MySQL's family are told, in the database demo: keys, a view, routines and every type. */
import { createConnection } from "mysql2/promise";

const statements = [
  "create table customer (id int unsigned not null auto_increment comment 'its number', name varchar(40) not null, code char(3) default 'abc', born date, balance decimal(12,2) not null default 0.00, changed timestamp null default current_timestamp on update current_timestamp, kind enum('a', 'it''s') default 'a', primary key (id), unique key by_code (code), key by_name (name(10), born desc)) engine innodb default charset utf8mb4 collate utf8mb4_general_ci comment 'who buys' stats_auto_recalc = 0",
  "create table sale (id bigint not null auto_increment primary key, customer_id int unsigned not null, amount decimal(10,2), at datetime(3), note varchar(100), constraint sale_of foreign key (customer_id) references customer (id) on delete cascade on update restrict) default charset utf8mb4 collate utf8mb4_general_ci stats_auto_recalc = 0",
  "create table sale_line (sale_id bigint not null, line smallint not null, price decimal(8,2) not null, quantity int not null default 1, total decimal(20,2) generated always as (price * quantity) virtual, primary key (sale_id, line), constraint line_of foreign key (sale_id) references sale (id)) default charset utf8mb4 collate utf8mb4_general_ci",
  "create table `odd na_me` (`a b` int not null primary key, `it's` varchar(5) default 'x''y', `select` bigint unsigned) default charset utf8mb4 collate utf8mb4_general_ci",
  "create table `it's` (a int, b int, unique key `by both` (a, b)) default charset utf8mb4 collate utf8mb4_general_ci",
  "create table every (id int primary key, b1 tinyint(1), i1 tinyint unsigned, i2 smallint, i3 mediumint, i4 int(7) unsigned zerofill, i8 bigint unsigned, f float, d double, n decimal(30,10), m decimal(65,30), bit1 bit(1), bit12 bit(12), da date, t time, t6 time(6), dt datetime, dt6 datetime(6), ts timestamp null, y year, c char(5), v varchar(20) character set latin1, vb varchar(20) collate utf8mb4_bin, tt tinytext, tx text, mt mediumtext, lt longtext, bi binary(4), vbi varbinary(9), tb tinyblob, bl blob, mb mediumblob, lb longblob, e enum('x', 'y'), s set('p', 'q'), j json, g point) default charset utf8mb4 collate utf8mb4_general_ci",
  "insert into customer (id, name, code, born, changed) values (1, 'Ann', 'ann', '1990-02-28', '2024-01-02 03:04:05'), (2, 'It''s \\\\ Bob', null, null, '2024-01-02 03:04:05'), (3, 'ä漢😀', 'ccc', '0001-01-01', null)",
  "insert into sale values (1, 1, 9.50, '2024-02-29 12:00:00.125', 'it''s'), (2, 1, null, null, null), (3, 2, -1.25, '1999-12-31 23:59:59.999', '')",
  "insert into sale_line (sale_id, line, price, quantity) values (1, 1, 1.25, 4), (1, 2, 0.10, 1), (3, 1, 7, -1)",
  "insert into `odd na_me` values (1, 'y', 18446744073709551615)",
  "insert into every values (1, 1, 255, -32768, 8388607, 42, 18446744073709551615, 1.5, -2.25e-300, 12345678901234567890.0123456789, 1.000000000000000000000000000001, b'1', b'101', '2024-02-29', '-838:59:59', '12:34:56.000001', '9999-12-31 23:59:59', '1000-01-01 00:00:00.5', '2024-06-01 12:00:00', 2024, 'ab', 'ä', 'Ä', 'tiny', 'text', 'medium', 'long', 'ab', x'00ff', x'', x'01', x'02', x'03', 'x', 'p,q', '{\"a\": [1, null]}', ST_GeomFromText('POINT(1 2)'))",
  "insert into every (id) values (2)",
  "insert into every (id, b1, i4, y, f, c, e, s, t) values (3, 7, 0, 1901, 3.1, '', 'y', '', '00:00:00')",
  "create view shown as select id, name, balance from customer where id > 0",
  "create function added(a int, b int) returns int deterministic no sql comment 'their sum' return a + b",
  "create function add_text(t varchar(20) charset utf8mb4) returns varchar(40) charset utf8mb4 deterministic no sql return concat(t, t)",
  "create procedure add_up(in a int, out total int) reads sql data select a + count(*) into total from customer",
  "create procedure add_rows() reads sql data select id, name from customer order by id",
  "create procedure add_none() do 1",
  "analyze table customer, sale, sale_line, every",
];

/** Makes them, and what `more` says. `login` is what mysql2 logs in with. */
export async function makeTold(login, more = []) {
  const client = await createConnection({ host: "127.0.0.1", database: "demo", ...login });
  try {
    for (const sql of [...statements, ...more]) await client.query(sql);
  } finally {
    await client.end();
  }
}
