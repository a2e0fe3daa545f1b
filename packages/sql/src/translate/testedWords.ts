/** Words of statements that gave the same rows, by pair of dialects. Written by `test/translate/run.mjs --write`. */
export const testedWords: Readonly<Record<string, string>> = {
  "clickhouse duckdb": `
abs; add; alias; and; avg; between; between.not; boolean; case; case.else_; case.operand; cast; cast type string; cast.data_type=big_int; cast.data_type=custom;
cast.data_type=double; cast.data_type=timestamp; cast.double_colon_syntax; cast.to; ceil; coalesce; column; concat; concat/3; count; count.distinct; count.filter; count.star;
count_if; create_table; create_table type string; create_table.as_select; create_table.data_type=custom; create_table.data_type=int; current_date/0; data_type; date/1; date_add/2;
date_diff('day'); date_diff('hour'); date_diff('month'); date_diff('year'); date_diff/3; date_format('%Y-%m-%d'); date_format/2; date_sub/2; date_trunc('day'); date_trunc('hour');
date_trunc('minute'); date_trunc('month'); date_trunc('quarter'); date_trunc('week'); date_trunc('year'); date_trunc/2; day; delete; delete.where_clause; dense_rank; drop_table;
drop_table.names; eq; exists; exp; extract; extract.field=day; extract.field=dayofweek; extract.field=dayofyear; extract.field=hour; extract.field=minute; extract.field=month;
extract.field=quarter; extract.field=second; extract.field=week; extract.field=year; first_value; floor; from_unixtime/1; function.no_parens; greatest/2; gt; gte; hour; i_like;
if_func; if_func.condition; if_func.false_value; if_func.true_value; in; in.not; in.query; insert; insert.query; int_div; intersect; interval; interval('1 day'); interval('1 hour');
interval('1 month'); interval('1 year'); interval('value'); interval.unit; interval.unit=day; interval.unit=hour; interval.unit=month; interval.unit=year; is_null; is_null.not;
is_true; last_day; least/2; like; like.escape; literal; literal.literal_type=date; literal.literal_type=number; literal.literal_type=string; literal.literal_type=timestamp; ln;
lower; lpad/3; lt; lte; ltrim/1; max; max_by/2; min; minute; mod; mod_func; month; mul; n_tile; n_tile.num_buckets; neg; neq; not; now/0; null; null_safe_neq; nullif/2; or; paren;
power/2; rank; regexp_like; regexp_like('plain pattern'); regexp_like.pattern; repeat/2; replace/3; reverse/1; round/2; row_number; rpad/3; rtrim/1; select; select.count;
select.desc; select.direction; select.distinct; select.distinct_on; select.fetch; select.from; select.group_by; select.having; select.joins; select.kind=cross; select.kind=inner;
select.limit; select.nulls_first; select.offset; select.on; select.order_by; select.partition_by; select.qualify; select.recursive; select.rows; select.spec; select.using;
select.where_clause; select.windows; select.with; sign/1; sqrt; star; star.except; stddev_samp; str_position; str_position.substr; sub; subquery; substring.from_for_syntax;
substring.length; substring.start; sum; table; timestampdiff/3; trim; trim.position=both; truncate; truncate.target; union; union.all; values; window_function; window_function.end;
window_function.frame; window_function.kind=range; window_function.kind=rows; window_function.order_by; window_function.partition_by; window_function.start;
window_function.window_name; year`,
  "clickhouse mysql": `
abs; add; alias; and; between; between.not; boolean; case; case.else_; case.operand; cast; cast.data_type=big_int; cast.data_type=double; cast.data_type=timestamp;
cast.double_colon_syntax; cast.to; ceil; coalesce; column; concat; concat/2; concat/3; count; count.distinct; count.star; create_table; create_table.as_select; current_date/0;
data_type; date/1; date_add/2; date_format('%H:%i:%s'); date_format('%M %W'); date_format('%Y-%m-%d'); date_format/2; date_sub/2; date_trunc('day'); date_trunc/2; day; dense_rank;
drop_table; drop_table.names; eq; exists; exp; extract; extract.field=day; extract.field=hour; extract.field=minute; extract.field=month; extract.field=quarter;
extract.field=second; extract.field=year; first_value; floor; formatdatetime('%Y-%m'); formatdatetime/2; from_unixtime/1; function.no_parens; gt; gte; hour; i_like; if_func;
if_func.condition; if_func.false_value; if_func.true_value; in; in.not; in.query; intersect; interval; interval('value'); interval.unit; interval.unit=day; interval.unit=hour;
interval.unit=month; interval.unit=year; is_null; is_null.not; is_true; last_day; least/2; like.escape; literal; literal.literal_type=date; literal.literal_type=number;
literal.literal_type=string; literal.literal_type=timestamp; ln; lower; lpad/3; lt; lte; ltrim/1; max; min; minute; mod; mod_func; month; mul; n_tile; n_tile.num_buckets; neg; neq;
not; now/0; null; null_safe_neq; nullif/2; or; paren; power/2; rank; repeat/2; replace/3; reverse/1; round/1; round/2; row_number; rpad/3; rtrim/1; select; select.count;
select.desc; select.direction; select.distinct; select.distinct_on; select.fetch; select.from; select.group_by; select.having; select.joins; select.kind=cross; select.kind=inner;
select.limit; select.nulls_first; select.offset; select.on; select.partition_by; select.qualify; select.recursive; select.rows; select.spec; select.using; select.where_clause;
select.windows; select.with; sign/1; sqrt; star; stddev_samp; str_position; str_position.substr; str_to_date('%d-%m-%Y'); str_to_date('value'); str_to_date/2; sub; subquery;
substring.from_for_syntax; substring.length; substring.start; sum; table; trim; trim.position=both; truncate; truncate.target; union; union.all; window_function;
window_function.end; window_function.frame; window_function.kind=range; window_function.kind=rows; window_function.order_by; window_function.partition_by; window_function.start;
window_function.window_name; year`,
  "clickhouse postgres": `
abs; add; alias; and; array_func; array_func.bracket_notation; arrayjoin/1; avg; between; between.not; boolean; case; case.else_; case.operand; cast; cast.data_type=big_int;
cast.data_type=double; cast.data_type=timestamp; cast.double_colon_syntax; cast.to; ceil; coalesce; column; concat; concat/2; concat/3; count; count.distinct; count.filter;
count.star; create_table; create_table.as_select; current_date/0; data_type; date/1; date_add/2; date_diff('day'); date_diff('hour'); date_diff/3; date_sub/2; date_trunc('day');
date_trunc('hour'); date_trunc('minute'); date_trunc('month'); date_trunc('quarter'); date_trunc('week'); date_trunc('year'); date_trunc/2; dense_rank; drop_table; drop_table.names;
eq; exists; extract; extract.field=day; extract.field=dayofweek; extract.field=dayofyear; extract.field=hour; extract.field=minute; extract.field=month; extract.field=quarter;
extract.field=week; extract.field=year; first_value; floor; from_unixtime/1; function.no_parens; greatest/2; gt; gte; i_like; if_func; if_func.condition; if_func.false_value;
if_func.true_value; in; in.not; in.query; initcap; int_div; intersect; interval; interval('1 day'); interval('1 hour'); interval('1 month'); interval('1 year'); interval('value');
interval.unit; interval.unit=day; interval.unit=hour; interval.unit=month; interval.unit=year; is_null; is_null.not; is_true; last_day; least/2; like; like.escape; literal;
literal.literal_type=date; literal.literal_type=number; literal.literal_type=string; literal.literal_type=timestamp; lower; lpad/3; lt; lte; ltrim/1; max; min; mod; mod_func; mul;
n_tile; n_tile.num_buckets; neg; neq; not; now/0; null; null_safe_neq; nullif/2; or; paren; power/2; rank; regexp_like; regexp_like('plain pattern'); regexp_like.pattern; repeat/2;
replace/3; reverse/1; round/1; round/2; row_number; rpad/3; rtrim/1; select; select.count; select.desc; select.direction; select.distinct; select.distinct_on; select.fetch;
select.from; select.group_by; select.having; select.joins; select.kind=cross; select.kind=inner; select.limit; select.nulls_first; select.offset; select.on; select.order_by;
select.partition_by; select.qualify; select.recursive; select.rows; select.spec; select.using; select.where_clause; select.windows; select.with; sign/1; sqrt; star; str_position;
str_position.substr; str_to_date('%d-%m-%Y'); str_to_date('value'); str_to_date/2; sub; subquery; substring.from_for_syntax; substring.length; substring.start; sum; table; trim;
trim.position=both; truncate; truncate.target; union; union.all; values; window_function; window_function.end; window_function.frame; window_function.kind=range;
window_function.kind=rows; window_function.order_by; window_function.partition_by; window_function.start; window_function.window_name`,
  "clickhouse trino": `
abs; add; alias; and; avg; between; between.not; boolean; case; case.else_; case.operand; cast; cast.data_type=big_int; cast.data_type=double; cast.data_type=timestamp;
cast.double_colon_syntax; cast.to; ceil; coalesce; column; concat; concat/2; concat/3; count; count.distinct; count.filter; count.star; create_table; create_table.as_select;
current_date/0; data_type; date/1; date_diff('day'); date_diff/3; date_format('%H:%i:%s'); date_format('%M %W'); date_format('%Y-%m-%d'); date_format/2; date_trunc('day');
date_trunc('hour'); date_trunc('minute'); date_trunc('month'); date_trunc('quarter'); date_trunc('week'); date_trunc('year'); date_trunc/2; day; dense_rank; drop_table;
drop_table.names; eq; exists; exp; extract; extract.field=day; extract.field=dayofyear; extract.field=hour; extract.field=minute; extract.field=month; extract.field=quarter;
extract.field=second; extract.field=week; extract.field=year; first_value; floor; from_unixtime/1; function.no_parens; gt; gte; hour; i_like; if_func; if_func.condition;
if_func.false_value; if_func.true_value; in; in.not; in.query; initcap; intersect; interval; interval('1 day'); interval('1 hour'); interval('1 month'); interval('1 year');
interval('value'); interval.unit; interval.unit=day; interval.unit=hour; interval.unit=month; interval.unit=year; is_null; is_null.not; is_true; least/2; like; like.escape; literal;
literal.literal_type=date; literal.literal_type=number; literal.literal_type=string; literal.literal_type=timestamp; ln; lower; lpad/3; lt; lte; ltrim/1; max; max_by/2; min; minute;
mod; mod_func; month; mul; n_tile; n_tile.num_buckets; neg; neq; not; now/0; null; null_safe_neq; nullif/2; or; paren; power/2; rank; regexp_like; regexp_like('plain pattern');
regexp_like.pattern; regexp_replace('plain pattern'); regexp_replace/3; replace/3; reverse/1; round/2; row_number; rpad/3; rtrim/1; select; select.count; select.desc;
select.direction; select.distinct; select.distinct_on; select.fetch; select.from; select.group_by; select.having; select.joins; select.kind=cross; select.kind=inner; select.limit;
select.nulls_first; select.offset; select.on; select.order_by; select.partition_by; select.qualify; select.recursive; select.rows; select.spec; select.where_clause; select.windows;
select.with; sign/1; sqrt; star; stddev_samp; str_position; str_position.substr; str_to_date('%d-%m-%Y'); str_to_date('value'); str_to_date/2; sub; subquery; substring.length;
substring.start; sum; table; trim; trim.position=both; truncate; truncate.target; union; union.all; values; window_function; window_function.end; window_function.frame;
window_function.kind=range; window_function.kind=rows; window_function.order_by; window_function.partition_by; window_function.start; window_function.window_name; year`,
  "duckdb clickhouse": `
abs; add; alias; and; array_func; between; between.not; boolean; case; case.else_; case.operand; cast; cast.data_type=big_int; cast.data_type=char; cast.data_type=double;
cast.data_type=timestamp; cast.data_type=var_char; cast.double_colon_syntax; cast.to; ceil; coalesce; column; concat; concat/3; count; count.distinct; count.filter; count.star;
count_if; create_table; create_table.as_select; create_table.data_type=int; create_table.data_type=var_char; create_table.length; current_date/0; current_timestamp/0; data_type;
date/1; date_add/2; date_diff('day'); date_diff('hour'); date_diff('month'); date_diff('year'); date_diff/3; date_trunc('day'); date_trunc('hour'); date_trunc('minute');
date_trunc('month'); date_trunc('quarter'); date_trunc('week'); date_trunc('year'); date_trunc/2; day; delete; delete.where_clause; dense_rank; drop_table; drop_table.names; eq;
except; exists; exp; extract; extract.field=day; extract.field=dayofweek; extract.field=dayofyear; extract.field=hour; extract.field=minute; extract.field=month;
extract.field=quarter; extract.field=second; extract.field=week; extract.field=year; first_value; floor; function.no_parens; greatest/2; gt; gte; hour; i_like; if_func;
if_func.condition; if_func.false_value; if_func.true_value; in; in.not; in.query; insert; insert.query; intersect; interval; interval('1 day'); interval('1 hour');
interval('1 month'); interval('1 year'); interval('value'); interval.unit; interval.unit=day; interval.unit=hour; interval.unit=month; interval.unit=year; is_null; is_null.not;
is_true; last_day; least/2; like; like.escape; literal; literal.literal_type=date; literal.literal_type=number; literal.literal_type=string; literal.literal_type=timestamp; ln;
lower; lpad/3; lt; lte; ltrim/1; minute; mod; mod_func; month; mul; n_tile; n_tile.num_buckets; neg; neq; not; now/0; null; null_safe_neq; nullif/2; or; paren; power/2; rank;
repeat/2; replace/3; reverse/1; round/2; row_number; rpad/3; rtrim/1; select; select.count; select.desc; select.direction; select.distinct; select.distinct_on; select.fetch;
select.from; select.group_by; select.having; select.joins; select.kind=cross; select.kind=inner; select.limit; select.nulls_first; select.offset; select.on; select.order_by;
select.qualify; select.recursive; select.rows; select.using; select.where_clause; select.with; sign/1; sqrt; star; star.except; starts_with; str_position; str_position.substr; sub;
subquery; substring.from_for_syntax; substring.length; substring.start; table; trim; trim.position=both; truncate; truncate.target; try_cast; try_cast.data_type=int; try_cast.to;
union; union.all; union.limit; union.order_by; values; window_function; window_function.order_by; window_function.partition_by; year`,
  "duckdb mysql": `
abs; add; alias; and; between; between.not; boolean; case; case.else_; case.operand; cast; cast.data_type=big_int; cast.data_type=char; cast.data_type=decimal;
cast.data_type=double; cast.data_type=int; cast.data_type=timestamp; cast.data_type=var_char; cast.double_colon_syntax; cast.precision; cast.scale; cast.to; ceil; coalesce; column;
concat; concat/3; count; count.distinct; count.star; create_table; create_table.as_select; create_table.data_type; create_table.data_type=int; create_table.data_type=var_char;
create_table.length; current_date/0; current_timestamp/0; data_type; date/1; date_add/2; date_trunc('day'); date_trunc/2; day; delete; delete.where_clause; dense_rank; drop_table;
drop_table.names; eq; except; exists; exp; extract; extract.field=day; extract.field=hour; extract.field=minute; extract.field=month; extract.field=quarter; extract.field=second;
extract.field=year; first_value; floor; function.no_parens; gt; gte; hour; i_like; if_func; if_func.condition; if_func.false_value; if_func.true_value; in; in.not; in.query; insert;
insert.query; insert.values; intersect; interval; interval('1 day'); interval('1 hour'); interval('1 month'); interval('1 year'); interval('value'); interval.unit;
interval.unit=day; interval.unit=hour; interval.unit=month; interval.unit=year; is_null; is_null.not; is_true; lag; last_day; lead; lead.offset; least/2; left/2; like.escape;
literal; literal.literal_type=date; literal.literal_type=number; literal.literal_type=string; literal.literal_type=timestamp; ln; lower; lpad/3; lt; lte; ltrim/1; max; min; minute;
mod; mod_func; month; mul; n_tile; n_tile.num_buckets; neg; neq; not; now/0; null; null_safe_neq; nullif/2; or; paren; power/2; rank; repeat/2; replace/3; reverse/1; right/2;
rollup/1; round/2; row_number; rpad/3; rtrim/1; select; select.count; select.desc; select.direction; select.distinct; select.distinct_on; select.fetch; select.from; select.group_by;
select.having; select.joins; select.kind=cross; select.kind=full; select.kind=inner; select.kind=left; select.kind=right; select.limit; select.nulls_first; select.offset; select.on;
select.partition_by; select.qualify; select.recursive; select.rows; select.spec; select.using; select.where_clause; select.windows; select.with; sign/1; sqrt; star; stddev_samp;
str_position; str_position.substr; sub; subquery; substring; substring.from_for_syntax; substring.length; substring.start; sum; table; trim; trim.position=both; truncate;
truncate.target; union; union.all; union.limit; union.order_by; update; update.set; update.where_clause; upper; window_function; window_function.end; window_function.frame;
window_function.kind=range; window_function.kind=rows; window_function.order_by; window_function.partition_by; window_function.start; window_function.window_name; year`,
  "duckdb postgres": `
abs; add; alias; and; array_agg; array_agg.order_by; array_func; avg; between; between.not; boolean; case; case.else_; case.operand; cast; cast.data_type=big_int;
cast.data_type=char; cast.data_type=decimal; cast.data_type=double; cast.data_type=int; cast.data_type=timestamp; cast.data_type=var_char; cast.double_colon_syntax; cast.precision;
cast.scale; cast.to; ceil; coalesce; column; concat; concat/2; concat/3; count; count.distinct; count.filter; count.star; count_if; create_table; create_table.as_select;
create_table.data_type; create_table.data_type=int; create_table.data_type=var_char; create_table.length; current_date/0; current_timestamp/0; data_type; date/1; date_add/2;
date_diff('day'); date_diff('hour'); date_diff/3; date_trunc('day'); date_trunc('hour'); date_trunc('minute'); date_trunc('month'); date_trunc('quarter'); date_trunc('week');
date_trunc('year'); date_trunc/2; delete; delete.where_clause; dense_rank; drop_table; drop_table.names; eq; except; exists; extract; extract.field=day; extract.field=dayofweek;
extract.field=dayofyear; extract.field=hour; extract.field=minute; extract.field=month; extract.field=quarter; extract.field=week; extract.field=year; first_value; floor;
function.no_parens; generate_series/2; greatest/2; grouping sets/2; gt; gte; i_like; if_func; if_func.condition; if_func.false_value; if_func.true_value; in; in.not; in.query;
insert; insert.query; insert.values; intersect; interval; interval('1 day'); interval('1 hour'); interval('1 month'); interval('1 year'); interval('value'); interval.unit;
interval.unit=day; interval.unit=hour; interval.unit=month; interval.unit=year; is_null; is_null.not; is_true; lag; lead; lead.offset; least/2; left/2; length; like; like.escape;
literal; literal.literal_type=date; literal.literal_type=number; literal.literal_type=string; literal.literal_type=timestamp; logical_and; lower; lpad/3; lt; lte; ltrim/1; max; min;
mod; mod_func; mul; n_tile; n_tile.num_buckets; neg; neq; not; now/0; null; null_safe_neq; nullif/2; or; paren; power/2; rank; regexp_replace('plain pattern'); regexp_replace/3;
repeat/2; replace/3; reverse/1; right/2; rollup/1; round/2; row_number; rpad/3; rtrim/1; select; select.count; select.desc; select.direction; select.distinct; select.distinct_on;
select.fetch; select.from; select.group_by; select.having; select.joins; select.kind=cross; select.kind=full; select.kind=inner; select.kind=left; select.kind=right; select.limit;
select.nulls_first; select.offset; select.on; select.order_by; select.partition_by; select.qualify; select.recursive; select.rows; select.spec; select.using; select.where_clause;
select.windows; select.with; sign/1; split_part/3; sqrt; star; starts_with; str_position; str_position.substr; strftime('%Y-%m-%d'); strftime/2; sub; subquery; substring;
substring.from_for_syntax; substring.length; substring.start; sum; table; trim; trim.position=both; truncate; truncate.target; tuple; union; union.all; union.limit; union.order_by;
unnest; update; update.set; update.where_clause; upper; values; window_function; window_function.end; window_function.frame; window_function.kind=range; window_function.kind=rows;
window_function.order_by; window_function.partition_by; window_function.start; window_function.window_name`,
  "duckdb trino": `
abs; add; alias; and; array_agg; array_agg.order_by; array_func; avg; between; between.not; boolean; case; case.else_; case.operand; cast; cast.data_type=big_int;
cast.data_type=char; cast.data_type=decimal; cast.data_type=double; cast.data_type=timestamp; cast.data_type=var_char; cast.double_colon_syntax; cast.precision; cast.scale; cast.to;
ceil; coalesce; column; concat; concat/3; contains; count; count.distinct; count.filter; count.star; count_if; create_table; create_table.as_select; create_table.data_type;
create_table.data_type=int; create_table.data_type=var_char; create_table.length; current_date/0; current_timestamp/0; data_type; date/1; date_add/2; date_diff('day'); date_diff/3;
date_trunc('day'); date_trunc('hour'); date_trunc('minute'); date_trunc('month'); date_trunc('quarter'); date_trunc('week'); date_trunc('year'); date_trunc/2; day; dense_rank;
drop_table; drop_table.names; epoch; eq; except; exists; exp; extract; extract.field=day; extract.field=dayofyear; extract.field=hour; extract.field=minute; extract.field=month;
extract.field=quarter; extract.field=second; extract.field=week; extract.field=year; first_value; floor; function.no_parens; grouping sets/2; gt; gte; hour; i_like; if_func;
if_func.condition; if_func.false_value; if_func.true_value; in; in.not; in.query; insert; insert.query; insert.values; intersect; interval; interval('1 day'); interval('1 hour');
interval('1 month'); interval('1 year'); interval('value'); interval.unit; interval.unit=day; interval.unit=hour; interval.unit=month; interval.unit=year; is_null; is_null.not;
is_true; json_extract_scalar; json_extract_scalar('text'); json_extract_scalar.arrow_syntax; json_extract_scalar.path; lag; last_day; lead; lead.offset; least/2; left/2; length;
like; like.escape; literal; literal.literal_type=date; literal.literal_type=number; literal.literal_type=string; literal.literal_type=timestamp; ln; logical_and; lower; lpad/3; lt;
lte; ltrim/1; max; min; minute; mod; mod_func; month; mul; n_tile; n_tile.num_buckets; neg; neq; not; now/0; null; null_safe_neq; nullif/2; or; paren; power/2; rank; replace/3;
reverse/1; right/2; rollup/1; round/1; round/2; row_number; rpad/3; rtrim/1; select; select.count; select.desc; select.direction; select.distinct; select.distinct_on; select.fetch;
select.from; select.group_by; select.having; select.joins; select.kind=cross; select.kind=full; select.kind=inner; select.kind=left; select.kind=right; select.limit;
select.nulls_first; select.offset; select.on; select.order_by; select.partition_by; select.qualify; select.recursive; select.rows; select.spec; select.where_clause; select.windows;
select.with; sign/1; split_part/3; sqrt; star; starts_with; stddev_samp; str_position; str_position.substr; strftime('%Y-%m-%d'); strftime/2; string_agg; string_agg.order_by;
string_agg.separator; strptime('%d-%m-%Y'); strptime('value'); strptime/2; sub; subquery; substring; substring.length; substring.start; sum; table; trim; trim.position=both;
truncate; truncate.target; try_cast; try_cast.data_type=int; try_cast.to; tuple; union; union.all; union.limit; union.order_by; unnest; upper; values; window_function;
window_function.end; window_function.frame; window_function.kind=range; window_function.kind=rows; window_function.order_by; window_function.partition_by; window_function.start;
window_function.window_name; year`,
  "mysql clickhouse": `
abs; add; alias; and; between; between.not; boolean; case; case.else_; case.operand; cast; cast.data_type=char; cast.data_type=double; cast.to; ceil; coalesce; column; concat/2;
concat/3; count; count.distinct; count.star; create_table; create_table.as_select; create_table.data_type=int; create_table.data_type=var_char; create_table.length; current_date/0;
current_timestamp/0; data_type; date/1; date_add/2; date_format('%H:%i:%s'); date_format('%M %W'); date_format('%Y-%m-%d'); date_format/2; date_sub/2; day; delete;
delete.where_clause; dense_rank; drop_table; drop_table.names; eq; except; exists; exp; extract; extract.field=day; extract.field=hour; extract.field=minute; extract.field=month;
extract.field=quarter; extract.field=second; extract.field=year; first_value; floor; from_unixtime/1; function.no_parens; gt; gte; hour; if_func; if_func.condition;
if_func.false_value; if_func.true_value; in; in.not; in.query; insert; insert.query; int_div; intersect; interval; interval('value'); interval.unit; interval.unit=day;
interval.unit=hour; interval.unit=month; interval.unit=year; is_null; is_null.not; is_true; last_day; least/2; like.escape; literal; literal.literal_type=date;
literal.literal_type=number; literal.literal_type=string; literal.literal_type=timestamp; ln; lower; lpad/3; lt; lte; ltrim/1; minute; mod; mod_func; month; mul; n_tile;
n_tile.num_buckets; neg; neq; not; now/0; null; nullif/2; or; paren; power/2; rank; repeat/2; replace/3; reverse/1; round/1; round/2; row_number; rpad/3; rtrim/1; select;
select.desc; select.distinct; select.from; select.group_by; select.having; select.joins; select.kind=cross; select.kind=inner; select.limit; select.offset; select.on;
select.order_by; select.recursive; select.using; select.where_clause; select.with; sign/1; sqrt; star; str_position; str_position.substr; str_to_date('%d-%m-%Y');
str_to_date('value'); str_to_date/2; sub; subquery; substring.from_for_syntax; substring.length; substring.start; table; trim; trim.position=both; truncate; truncate.target; union;
union.all; union.limit; union.order_by; window_function; window_function.order_by; window_function.partition_by; year`,
  "mysql duckdb": `
abs; add; alias; and; between; between.not; boolean; case; case.else_; case.operand; cast; cast.data_type=char; cast.data_type=decimal; cast.data_type=double; cast.precision;
cast.scale; cast.to; ceil; coalesce; column; concat/3; count; count.distinct; count.star; create_table; create_table.as_select; create_table.data_type; create_table.data_type=int;
create_table.data_type=var_char; create_table.length; current_date/0; current_timestamp/0; data_type; date/1; date_add/2; date_format('%H:%i:%s'); date_format('%Y-%m-%d');
date_format/2; date_sub/2; datediff/2; day; delete; delete.where_clause; dense_rank; drop_table; drop_table.names; eq; except; exists; exp; extract; extract.field=day;
extract.field=hour; extract.field=minute; extract.field=month; extract.field=quarter; extract.field=second; extract.field=year; first_value; floor; from_unixtime/1;
function.no_parens; group_concat; group_concat.order_by; group_concat.separator; gt; gte; hour; if_func; if_func.condition; if_func.false_value; if_func.true_value; in; in.not;
in.query; insert; insert.query; insert.values; int_div; intersect; interval; interval('value'); interval.unit; interval.unit=day; interval.unit=hour; interval.unit=month;
interval.unit=year; is_null; is_null.not; is_true; lag; last_day; lead; lead.offset; least/2; left/2; like.escape; literal; literal.literal_type=date; literal.literal_type=number;
literal.literal_type=string; literal.literal_type=timestamp; ln; lower; lpad/3; lt; lte; ltrim/1; max; min; minute; mod; mod_func; month; mul; n_tile; n_tile.num_buckets; neg; neq;
not; now/0; null; nullif/2; or; paren; power/2; rank; repeat/2; replace/3; reverse/1; right/2; rollup/1; round/2; row_number; rpad/3; rtrim/1; select; select.desc; select.distinct;
select.from; select.group_by; select.having; select.joins; select.kind=cross; select.kind=inner; select.kind=left; select.kind=right; select.limit; select.offset; select.on;
select.order_by; select.partition_by; select.recursive; select.spec; select.using; select.where_clause; select.windows; select.with; sign/1; sqrt; star; stddev_samp; sub; subquery;
substring; substring.from_for_syntax; substring.length; substring.start; sum; table; trim; trim.position=both; truncate; truncate.target; union; union.all; union.limit;
union.order_by; unix_timestamp/1; update; update.set; update.where_clause; upper; window_function; window_function.end; window_function.frame; window_function.kind=range;
window_function.kind=rows; window_function.order_by; window_function.partition_by; window_function.start; window_function.window_name; year`,
  "mysql postgres": `
abs; add; alias; and; between; between.not; boolean; case; case.else_; case.operand; cast; cast.data_type=char; cast.data_type=decimal; cast.data_type=double; cast.precision;
cast.scale; cast.to; ceil; coalesce; column; concat/2; concat/3; count; count.distinct; count.star; create_table; create_table.as_select; create_table.data_type;
create_table.data_type=int; create_table.data_type=var_char; create_table.length; current_date/0; current_timestamp/0; data_type; date/1; date_add/2; date_sub/2; datediff/2; delete;
delete.where_clause; dense_rank; drop_table; drop_table.names; eq; except; exists; extract; extract.field=day; extract.field=hour; extract.field=minute; extract.field=month;
extract.field=quarter; extract.field=year; first_value; floor; from_unixtime/1; function.no_parens; group_concat; group_concat.order_by; group_concat.separator; gt; gte; in; in.not;
in.query; insert; insert.query; insert.values; int_div; intersect; interval; interval('value'); interval.unit; interval.unit=day; interval.unit=hour; interval.unit=month;
interval.unit=year; is_null; is_null.not; is_true; lag; last_day; lead; lead.offset; least/2; left/2; like.escape; literal; literal.literal_type=date; literal.literal_type=number;
literal.literal_type=string; literal.literal_type=timestamp; lower; lpad/3; lt; lte; ltrim/1; max; min; mod; mod_func; mul; n_tile; n_tile.num_buckets; neg; neq; not; now/0; null;
nullif/2; or; paren; power/2; rank; repeat/2; replace/3; reverse/1; right/2; rollup/1; round/1; round/2; row_number; rpad/3; rtrim/1; select; select.desc; select.distinct;
select.from; select.group_by; select.having; select.joins; select.kind=cross; select.kind=inner; select.kind=left; select.kind=right; select.limit; select.offset; select.on;
select.order_by; select.partition_by; select.recursive; select.spec; select.using; select.where_clause; select.windows; select.with; sign/1; sqrt; star; str_to_date('%d-%m-%Y');
str_to_date('value'); str_to_date/2; sub; subquery; substring; substring.from_for_syntax; substring.length; substring.start; sum; table; trim; trim.position=both; truncate;
truncate.target; union; union.all; union.limit; union.order_by; unix_timestamp/1; update; update.set; update.where_clause; upper; window_function; window_function.end;
window_function.frame; window_function.kind=range; window_function.kind=rows; window_function.order_by; window_function.partition_by; window_function.start;
window_function.window_name`,
  "mysql trino": `
abs; add; alias; and; between; between.not; boolean; case; case.else_; case.operand; cast; cast.data_type=char; cast.data_type=decimal; cast.data_type=double; cast.precision;
cast.scale; cast.to; ceil; coalesce; column; concat/2; concat/3; count; count.distinct; count.star; create_table; create_table.as_select; create_table.data_type;
create_table.data_type=int; create_table.data_type=var_char; create_table.length; current_date/0; current_timestamp/0; data_type; date/1; date_format('%H:%i:%s');
date_format('%M %W'); date_format('%Y-%m-%d'); date_format/2; datediff/2; day; dense_rank; drop_table; drop_table.names; eq; except; exists; exp; extract; extract.field=day;
extract.field=hour; extract.field=minute; extract.field=month; extract.field=quarter; extract.field=second; extract.field=year; first_value; floor; from_unixtime/1;
function.no_parens; greatest/2; group_concat; group_concat.order_by; group_concat.separator; gt; gte; hour; if_func; if_func.condition; if_func.false_value; if_func.true_value; in;
in.not; in.query; insert; insert.query; insert.values; intersect; interval; interval('value'); interval.unit; interval.unit=day; interval.unit=hour; interval.unit=month;
interval.unit=year; is_null; is_null.not; is_true; lag; lead; lead.offset; least/2; left/2; like.escape; literal; literal.literal_type=date; literal.literal_type=number;
literal.literal_type=string; literal.literal_type=timestamp; ln; lower; lpad/3; lt; lte; ltrim/1; max; min; minute; mod; mod_func; month; mul; n_tile; n_tile.num_buckets; neg; neq;
not; now/0; null; nullif/2; or; paren; power/2; rank; replace/3; reverse/1; right/2; rollup/1; round/2; row_number; rpad/3; rtrim/1; select; select.desc; select.distinct;
select.from; select.group_by; select.having; select.joins; select.kind=cross; select.kind=inner; select.kind=left; select.kind=right; select.limit; select.offset; select.on;
select.order_by; select.partition_by; select.recursive; select.spec; select.where_clause; select.windows; select.with; sign/1; sqrt; star; stddev_samp; str_position;
str_position.substr; str_to_date('%d-%m-%Y'); str_to_date('value'); str_to_date/2; sub; subquery; substring; substring.from_for_syntax; substring.length; substring.start; sum;
table; trim; trim.position=both; truncate; truncate.target; union; union.all; union.limit; union.order_by; unix_timestamp/1; upper; window_function; window_function.end;
window_function.frame; window_function.kind=range; window_function.kind=rows; window_function.order_by; window_function.partition_by; window_function.start;
window_function.window_name; year`,
  "postgres clickhouse": `
abs; add; alias; and; array_func; between; between.not; boolean; case; case.else_; case.operand; cast; cast.data_type=big_int; cast.data_type=double; cast.data_type=timestamp;
cast.data_type=var_char; cast.double_colon_syntax; cast.to; ceil; coalesce; column; concat; concat/2; concat/3; count; count.distinct; count.filter; count.star; create_table;
create_table.as_select; create_table.data_type=int; create_table.data_type=var_char; create_table.length; current_date/0; current_timestamp/0; data_type; date/1; date_trunc('day');
date_trunc('hour'); date_trunc('minute'); date_trunc('month'); date_trunc('quarter'); date_trunc('week'); date_trunc('year'); date_trunc/2; delete; delete.where_clause; dense_rank;
div_of_integers; drop_table; drop_table.names; eq; except; exists; extract; extract.field=day; extract.field=dayofweek; extract.field=dayofyear; extract.field=hour;
extract.field=minute; extract.field=month; extract.field=quarter; extract.field=week; extract.field=year; first_value; floor; function.no_parens; greatest/2; gt; gte; i_like; in;
in.not; in.query; initcap; insert; insert.query; intersect; interval; interval('1 day'); interval('1 hour'); interval('1 month'); interval('1 year'); interval('value');
interval.unit; interval.unit=day; interval.unit=hour; interval.unit=month; interval.unit=year; is_null; is_null.not; is_true; json_extract_scalar; json_extract_scalar('text');
json_extract_scalar.arrow_syntax; json_extract_scalar.path; least/2; like; like.escape; literal; literal.literal_type=date; literal.literal_type=number; literal.literal_type=string;
literal.literal_type=timestamp; lower; lpad/3; lt; lte; ltrim/1; mod; mod_func; mul; n_tile; n_tile.num_buckets; neg; neq; not; now/0; null; null_safe_neq; nullif/2; or; paren;
power/2; rank; regexp_like; regexp_like('plain pattern'); regexp_like.pattern; regexp_like/2; repeat/2; replace/3; reverse/1; round/1; round/2; row_number; rpad/3; rtrim/1; select;
select.count; select.desc; select.direction; select.distinct; select.distinct_on; select.fetch; select.from; select.group_by; select.having; select.joins; select.kind=cross;
select.kind=inner; select.limit; select.nulls_first; select.offset; select.on; select.order_by; select.recursive; select.rows; select.using; select.where_clause; select.with;
sign/1; sqrt; star; starts_with; str_position; str_position.substr; sub; subquery; substring.from_for_syntax; substring.length; substring.start; table; trim; trim.position=both;
truncate; truncate.target; union; union.all; union.limit; union.order_by; values; window_function; window_function.order_by; window_function.partition_by`,
  "postgres duckdb": `
abs; add; alias; and; array_agg; array_agg.order_by; array_func; avg; between; between.not; boolean; cardinality; case; case.else_; case.operand; cast; cast.data_type=big_int;
cast.data_type=decimal; cast.data_type=double; cast.data_type=int; cast.data_type=timestamp; cast.data_type=var_char; cast.double_colon_syntax; cast.precision; cast.scale; cast.to;
ceil; coalesce; column; concat; concat/2; concat/3; count; count.distinct; count.filter; count.star; create_table; create_table.as_select; create_table.data_type;
create_table.data_type=int; create_table.data_type=var_char; create_table.length; current_date/0; current_timestamp/0; data_type; date/1; date_trunc('day'); date_trunc('hour');
date_trunc('minute'); date_trunc('month'); date_trunc('quarter'); date_trunc('week'); date_trunc('year'); date_trunc/2; delete; delete.where_clause; dense_rank; div_of_integers;
drop_table; drop_table.names; eq; except; exists; extract; extract.field=day; extract.field=dayofweek; extract.field=dayofyear; extract.field=hour; extract.field=minute;
extract.field=month; extract.field=quarter; extract.field=week; extract.field=year; first_value; floor; function.no_parens; generate_series/2; greatest/2; grouping sets/2; gt; gte;
i_like; in; in.not; in.query; insert; insert.query; insert.values; intersect; interval; interval('1 day'); interval('1 hour'); interval('1 month'); interval('1 year');
interval('value'); interval.unit; interval.unit=day; interval.unit=hour; interval.unit=month; interval.unit=year; is_null; is_null.not; is_true; json_extract_scalar;
json_extract_scalar('text'); json_extract_scalar.arrow_syntax; json_extract_scalar.path; lag; lead; lead.offset; least/2; left/2; length; like; like.escape; literal;
literal.literal_type=date; literal.literal_type=number; literal.literal_type=string; literal.literal_type=timestamp; logical_and; lower; lpad/3; lt; lte; ltrim/1; max; min; mod;
mod_func; mul; n_tile; n_tile.num_buckets; neg; neq; not; now/0; null; null_safe_neq; nullif/2; or; paren; power/2; rank; regexp_like; regexp_like('plain pattern');
regexp_like.pattern; regexp_like/2; regexp_replace('plain pattern'); regexp_replace/3; repeat/2; replace/3; reverse/1; right/2; rollup/1; round/2; row_number; rpad/3; rtrim/1;
select; select.count; select.desc; select.direction; select.distinct; select.distinct_on; select.fetch; select.from; select.group_by; select.having; select.joins; select.kind=cross;
select.kind=full; select.kind=inner; select.kind=left; select.kind=right; select.limit; select.nulls_first; select.offset; select.on; select.order_by; select.partition_by;
select.recursive; select.rows; select.spec; select.using; select.where_clause; select.windows; select.with; sign/1; split_part/3; sqrt; star; starts_with; str_position;
str_position.substr; string_agg; string_agg.order_by; string_agg.separator; sub; subquery; substring; substring.from_for_syntax; substring.length; substring.start; sum; table;
to_date('DD-MM-YYYY'); to_date('value'); to_date/2; trim; trim.position=both; truncate; truncate.target; tuple; union; union.all; union.limit; union.order_by; unnest; update;
update.set; update.where_clause; upper; values; window_function; window_function.end; window_function.frame; window_function.kind=range; window_function.kind=rows;
window_function.order_by; window_function.partition_by; window_function.start; window_function.window_name`,
  "postgres mysql": `
abs; add; alias; and; between; between.not; boolean; case; case.else_; case.operand; cast; cast.data_type=big_int; cast.data_type=decimal; cast.data_type=double; cast.data_type=int;
cast.data_type=timestamp; cast.data_type=var_char; cast.double_colon_syntax; cast.precision; cast.scale; cast.to; ceil; coalesce; column; concat; concat/3; count; count.distinct;
count.star; create_table; create_table.as_select; create_table.data_type; create_table.data_type=int; create_table.data_type=var_char; create_table.length; current_date/0;
current_timestamp/0; data_type; date/1; date_trunc('day'); date_trunc/2; delete; delete.where_clause; dense_rank; div_of_integers; drop_table; drop_table.names; eq; except; exists;
extract; extract.field=day; extract.field=hour; extract.field=minute; extract.field=month; extract.field=quarter; extract.field=year; first_value; floor; function.no_parens; gt;
gte; i_like; in; in.not; in.query; insert; insert.query; insert.values; intersect; interval; interval('value'); interval.unit; interval.unit=day; interval.unit=hour;
interval.unit=month; interval.unit=year; is_null; is_null.not; is_true; lag; lead; lead.offset; least/2; left/2; like.escape; literal; literal.literal_type=date;
literal.literal_type=number; literal.literal_type=string; literal.literal_type=timestamp; lower; lpad/3; lt; lte; ltrim/1; max; min; mod; mod_func; mul; n_tile; n_tile.num_buckets;
neg; neq; not; now/0; null; null_safe_neq; nullif/2; or; paren; power/2; rank; repeat/2; replace/3; reverse/1; right/2; rollup/1; round/1; round/2; row_number; rpad/3; rtrim/1;
select; select.count; select.desc; select.direction; select.distinct; select.distinct_on; select.fetch; select.from; select.group_by; select.having; select.joins; select.kind=cross;
select.kind=full; select.kind=inner; select.kind=left; select.kind=right; select.limit; select.nulls_first; select.offset; select.on; select.partition_by; select.recursive;
select.rows; select.spec; select.using; select.where_clause; select.windows; select.with; sign/1; sqrt; star; str_position; str_position.substr; string_agg; string_agg.order_by;
string_agg.separator; sub; subquery; substring; substring.from_for_syntax; substring.length; substring.start; sum; table; trim; trim.position=both; truncate; truncate.target; union;
union.all; union.limit; union.order_by; update; update.set; update.where_clause; upper; window_function; window_function.end; window_function.frame; window_function.kind=range;
window_function.kind=rows; window_function.order_by; window_function.partition_by; window_function.start; window_function.window_name`,
  "postgres trino": `
abs; add; alias; and; array_agg; array_agg.order_by; array_func; avg; between; between.not; boolean; cardinality; case; case.else_; case.operand; cast; cast.data_type=big_int;
cast.data_type=decimal; cast.data_type=double; cast.data_type=timestamp; cast.data_type=var_char; cast.double_colon_syntax; cast.precision; cast.scale; cast.to; ceil; coalesce;
column; concat; concat/2; concat/3; count; count.distinct; count.filter; count.star; create_table; create_table.as_select; create_table.data_type; create_table.data_type=int;
create_table.data_type=var_char; create_table.length; current_date/0; current_timestamp/0; data_type; date/1; date_trunc('day'); date_trunc('hour'); date_trunc('minute');
date_trunc('month'); date_trunc('quarter'); date_trunc('week'); date_trunc('year'); date_trunc/2; dense_rank; div_of_integers; drop_table; drop_table.names; eq; except; exists;
extract; extract.field=day; extract.field=dayofyear; extract.field=hour; extract.field=minute; extract.field=month; extract.field=quarter; extract.field=week; extract.field=year;
first_value; floor; function.no_parens; generate_series/2; grouping sets/2; gt; gte; i_like; in; in.not; in.query; initcap; insert; insert.query; insert.values; intersect; interval;
interval('1 day'); interval('1 hour'); interval('1 month'); interval('1 year'); interval('value'); interval.unit; interval.unit=day; interval.unit=hour; interval.unit=month;
interval.unit=year; is_null; is_null.not; is_true; lag; lead; lead.offset; least/2; left/2; length; like; like.escape; literal; literal.literal_type=date;
literal.literal_type=number; literal.literal_type=string; literal.literal_type=timestamp; logical_and; lower; lpad/3; lt; lte; ltrim/1; max; min; mod; mod_func; mul; n_tile;
n_tile.num_buckets; neg; neq; not; now/0; null; null_safe_neq; nullif/2; or; paren; power/2; rank; regexp_like; regexp_like('plain pattern'); regexp_like.pattern; regexp_like/2;
replace/3; reverse/1; right/2; rollup/1; round/2; row_number; rpad/3; rtrim/1; select; select.count; select.desc; select.direction; select.distinct; select.distinct_on;
select.fetch; select.from; select.group_by; select.having; select.joins; select.kind=cross; select.kind=full; select.kind=inner; select.kind=left; select.kind=right; select.limit;
select.nulls_first; select.offset; select.on; select.order_by; select.partition_by; select.recursive; select.rows; select.spec; select.where_clause; select.windows; select.with;
sign/1; split_part/3; sqrt; star; starts_with; str_position; str_position.substr; sub; subquery; substring; substring.length; substring.start; sum; table; trim; trim.position=both;
truncate; truncate.target; tuple; union; union.all; union.limit; union.order_by; unnest; upper; values; window_function; window_function.end; window_function.frame;
window_function.kind=range; window_function.kind=rows; window_function.order_by; window_function.partition_by; window_function.start; window_function.window_name`,
  "trino clickhouse": `
abs; add; alias; and; array_func; between; between.not; boolean; case; case.else_; case.operand; cast; cast.data_type=big_int; cast.data_type=double; cast.data_type=timestamp;
cast.data_type=var_char; cast.to; ceil; coalesce; column; concat; concat/2; concat/3; count; count.distinct; count.filter; count.star; count_if; create_table;
create_table.as_select; create_table.data_type=int; create_table.data_type=var_char; create_table.length; current_date/0; current_timestamp/0; data_type; date/1; date_add('day');
date_add('hour'); date_add('month'); date_add('year'); date_add/3; date_diff('day'); date_diff/3; date_format('%H:%i:%s'); date_format('%M %W'); date_format('%Y-%m-%d');
date_format/2; date_trunc('day'); date_trunc('hour'); date_trunc('minute'); date_trunc('month'); date_trunc('quarter'); date_trunc('week'); date_trunc('year'); date_trunc/2; day;
dense_rank; div_of_integers; drop_table; drop_table.names; eq; except; exists; exp; extract; extract.field=day; extract.field=dayofyear; extract.field=hour; extract.field=minute;
extract.field=month; extract.field=quarter; extract.field=second; extract.field=week; extract.field=year; first_value; floor; from_unixtime/1; function.no_parens; gt; gte; hour;
if_func; if_func.condition; if_func.false_value; if_func.true_value; in; in.not; in.query; insert; insert.query; intersect; interval; interval('value'); interval.unit;
interval.unit=day; interval.unit=hour; interval.unit=month; interval.unit=year; is_null; is_null.not; json_extract_scalar; json_extract_scalar('$.x'); json_extract_scalar('text');
json_extract_scalar.path; last_day_of_month/1; least/2; like; like.escape; literal; literal.literal_type=date; literal.literal_type=number; literal.literal_type=string;
literal.literal_type=timestamp; ln; lower; lpad/3; lt; lte; ltrim/1; minute; mod; mod_func; month; mul; n_tile; n_tile.num_buckets; neg; neq; not; now/0; null; null_safe_neq;
nullif/2; or; paren; power/2; rank; regexp_like('plain pattern'); regexp_like/2; regexp_replace('plain pattern'); regexp_replace/3; replace/3; reverse/1; round/2; row_number;
rpad/3; rtrim/1; select; select.count; select.desc; select.direction; select.distinct; select.fetch; select.from; select.group_by; select.having; select.joins; select.kind=cross;
select.kind=inner; select.limit; select.nulls_first; select.offset; select.on; select.order_by; select.recursive; select.rows; select.where_clause; select.with; sign/1; sqrt; star;
starts_with; str_position; str_position.substr; sub; subquery; substring.from_for_syntax; substring.length; substring.start; table; trim; trim.position=both; truncate;
truncate.target; try_cast; try_cast.data_type=int; try_cast.to; union; union.all; union.limit; union.order_by; values; window_function; window_function.order_by;
window_function.partition_by; year`,
  "trino duckdb": `
abs; add; alias; and; approx_distinct; array_agg; array_agg.order_by; array_func; avg; between; between.not; boolean; cardinality; case; case.else_; case.operand; cast;
cast.data_type=big_int; cast.data_type=decimal; cast.data_type=double; cast.data_type=timestamp; cast.data_type=var_char; cast.precision; cast.scale; cast.to; ceil; coalesce;
column; concat; concat/3; contains; count; count.distinct; count.filter; count.star; count_if; create_table; create_table.as_select; create_table.data_type;
create_table.data_type=int; create_table.data_type=var_char; create_table.length; current_date/0; current_timestamp/0; data_type; date/1; date_add('day'); date_add('hour');
date_add('month'); date_add('year'); date_add/3; date_diff('day'); date_diff/3; date_format('%H:%i:%s'); date_format('%Y-%m-%d'); date_format/2; date_trunc('day');
date_trunc('hour'); date_trunc('minute'); date_trunc('month'); date_trunc('quarter'); date_trunc('week'); date_trunc('year'); date_trunc/2; day; dense_rank; div_of_integers;
drop_table; drop_table.names; eq; except; exists; exp; extract; extract.field=day; extract.field=dayofyear; extract.field=hour; extract.field=minute; extract.field=month;
extract.field=quarter; extract.field=second; extract.field=week; extract.field=year; first_value; floor; from_unixtime/1; function.no_parens; grouping sets/2; gt; gte; hour;
if_func; if_func.condition; if_func.false_value; if_func.true_value; in; in.not; in.query; insert; insert.query; insert.values; intersect; interval; interval('value');
interval.unit; interval.unit=day; interval.unit=hour; interval.unit=month; interval.unit=year; is_null; is_null.not; json_extract_scalar; json_extract_scalar('$.x');
json_extract_scalar('text'); json_extract_scalar.path; lag; last_day_of_month/1; lead; lead.offset; least/2; length; like; like.escape; list_agg; list_agg.separator; literal;
literal.literal_type=date; literal.literal_type=number; literal.literal_type=string; literal.literal_type=timestamp; ln; logical_and; lower; lpad/3; lt; lte; ltrim/1; max; max_by/2;
min; minute; mod; mod_func; month; mul; n_tile; n_tile.num_buckets; neg; neq; not; now/0; null; null_safe_neq; nullif/2; or; paren; power/2; rank; regexp_like('plain pattern');
regexp_like/2; regexp_replace('plain pattern'); regexp_replace/3; replace/3; reverse/1; rollup/1; round/1; round/2; row_number; rpad/3; rtrim/1; select; select.count; select.desc;
select.direction; select.distinct; select.fetch; select.from; select.group_by; select.having; select.joins; select.kind=cross; select.kind=full; select.kind=inner; select.kind=left;
select.kind=right; select.limit; select.nulls_first; select.offset; select.on; select.order_by; select.partition_by; select.recursive; select.rows; select.spec; select.where_clause;
select.windows; select.with; sign/1; split_part/3; sqrt; star; starts_with; stddev_samp; str_position; str_position.substr; sub; subquery; substring; substring.from_for_syntax;
substring.length; substring.start; sum; table; to_unixtime/1; trim; trim.position=both; truncate; truncate.target; try_cast; try_cast.data_type=int; try_cast.to; tuple; union;
union.all; union.limit; union.order_by; unnest; upper; values; window_function; window_function.end; window_function.frame; window_function.kind=range; window_function.kind=rows;
window_function.order_by; window_function.partition_by; window_function.start; window_function.window_name; within_group; within_group.order_by; year`,
  "trino mysql": `
abs; add; alias; and; between; between.not; boolean; case; case.else_; case.operand; cast; cast.data_type=big_int; cast.data_type=decimal; cast.data_type=double;
cast.data_type=timestamp; cast.data_type=var_char; cast.precision; cast.scale; cast.to; ceil; coalesce; column; concat; concat/2; concat/3; count; count.distinct; count.star;
create_table; create_table.as_select; create_table.data_type; create_table.data_type=int; create_table.data_type=var_char; create_table.length; current_date/0; current_timestamp/0;
data_type; date/1; date_add('day'); date_add('hour'); date_add('month'); date_add('year'); date_add/3; date_format('%H:%i:%s'); date_format('%M %W'); date_format('%Y-%m-%d');
date_format/2; date_trunc('day'); date_trunc/2; day; dense_rank; div_of_integers; drop_table; drop_table.names; eq; except; exists; exp; extract; extract.field=day;
extract.field=hour; extract.field=minute; extract.field=month; extract.field=quarter; extract.field=second; extract.field=year; first_value; floor; from_unixtime/1;
function.no_parens; greatest/2; gt; gte; hour; if_func; if_func.condition; if_func.false_value; if_func.true_value; in; in.not; in.query; insert; insert.query; insert.values;
intersect; interval; interval('value'); interval.unit; interval.unit=day; interval.unit=hour; interval.unit=month; interval.unit=year; is_null; is_null.not; lag;
last_day_of_month/1; lead; lead.offset; least/2; like.escape; literal; literal.literal_type=date; literal.literal_type=number; literal.literal_type=string;
literal.literal_type=timestamp; ln; logical_and; lower; lpad/3; lt; lte; ltrim/1; max; min; minute; mod; mod_func; month; mul; n_tile; n_tile.num_buckets; neg; neq; not; now/0;
null; null_safe_neq; nullif/2; or; paren; power/2; rank; replace/3; reverse/1; rollup/1; round/2; row_number; rpad/3; rtrim/1; select; select.count; select.desc; select.direction;
select.distinct; select.fetch; select.from; select.group_by; select.having; select.joins; select.kind=cross; select.kind=full; select.kind=inner; select.kind=left;
select.kind=right; select.limit; select.nulls_first; select.offset; select.on; select.partition_by; select.recursive; select.rows; select.spec; select.where_clause; select.windows;
select.with; sign/1; sqrt; star; stddev_samp; str_position; str_position.substr; sub; subquery; substring; substring.from_for_syntax; substring.length; substring.start; sum; table;
trim; trim.position=both; truncate; truncate.target; union; union.all; union.limit; union.order_by; upper; window_function; window_function.end; window_function.frame;
window_function.kind=range; window_function.kind=rows; window_function.order_by; window_function.partition_by; window_function.start; window_function.window_name; year`,
  "trino postgres": `
abs; add; alias; and; array_agg; array_agg.order_by; array_func; avg; between; between.not; boolean; cardinality; case; case.else_; case.operand; cast; cast.data_type=big_int;
cast.data_type=decimal; cast.data_type=double; cast.data_type=timestamp; cast.data_type=var_char; cast.precision; cast.scale; cast.to; ceil; coalesce; column; concat; concat/3;
count; count.distinct; count.filter; count.star; count_if; create_table; create_table.as_select; create_table.data_type; create_table.data_type=int; create_table.data_type=var_char;
create_table.length; current_date/0; current_timestamp/0; data_type; date/1; date_add('day'); date_add('hour'); date_add('month'); date_add('year'); date_add/3; date_diff('day');
date_diff('month'); date_diff('year'); date_diff/3; date_trunc('day'); date_trunc('hour'); date_trunc('minute'); date_trunc('month'); date_trunc('quarter'); date_trunc('week');
date_trunc('year'); date_trunc/2; dense_rank; div_of_integers; drop_table; drop_table.names; eq; except; exists; extract; extract.field=day; extract.field=dayofyear;
extract.field=hour; extract.field=minute; extract.field=month; extract.field=quarter; extract.field=week; extract.field=year; first_value; floor; from_unixtime/1;
function.no_parens; grouping sets/2; gt; gte; in; in.not; in.query; insert; insert.query; insert.values; intersect; interval; interval('value'); interval.unit; interval.unit=day;
interval.unit=hour; interval.unit=month; interval.unit=year; is_null; is_null.not; json_extract_scalar; json_extract_scalar('$.x'); json_extract_scalar('text');
json_extract_scalar.path; lag; lead; lead.offset; least/2; length; like; like.escape; literal; literal.literal_type=date; literal.literal_type=number; literal.literal_type=string;
literal.literal_type=timestamp; logical_and; lower; lpad/3; lt; lte; ltrim/1; max; min; mod; mod_func; mul; n_tile; n_tile.num_buckets; neg; neq; not; now/0; null; null_safe_neq;
nullif/2; or; paren; power/2; rank; regexp_like('plain pattern'); regexp_like/2; replace/3; reverse/1; rollup/1; round/2; row_number; rpad/3; rtrim/1; select; select.count;
select.desc; select.direction; select.distinct; select.fetch; select.from; select.group_by; select.having; select.joins; select.kind=cross; select.kind=full; select.kind=inner;
select.kind=left; select.kind=right; select.limit; select.nulls_first; select.offset; select.on; select.order_by; select.partition_by; select.recursive; select.rows; select.spec;
select.where_clause; select.windows; select.with; sign/1; split_part/3; sqrt; star; starts_with; str_position; str_position.substr; sub; subquery; substring;
substring.from_for_syntax; substring.length; substring.start; sum; table; trim; trim.position=both; truncate; truncate.target; tuple; union; union.all; union.limit; union.order_by;
unnest; upper; values; window_function; window_function.end; window_function.frame; window_function.kind=range; window_function.kind=rows; window_function.order_by;
window_function.partition_by; window_function.start; window_function.window_name`,
};
