/**
 * Kinds of nodes that may stand in a statement under a policy. Whatever is not named here is refused: it may read a
 * table by a name in a string, or mean something that this version of the parser only carries along.
 */

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** Expressions, clauses and parts of a FROM. Functions that the parser knows by name and that touch their arguments alone. */
export const readNodes: ReadonlySet<string> = new Set(
  words(`
  literal boolean null identifier column table star select union intersect except subquery values alias cast collation
  case and or add sub mul div mod eq neq lt lte gt gte like i_like bitwise_and bitwise_or bitwise_xor concat not neg
  bitwise_not in between is_null is_true is_false is exists function aggregate_function window_function from join
  joined_table where group_by having order_by limit offset qualify with cte ordered window over within_group data_type
  array struct tuple interval concat_ws substring upper lower length trim l_trim r_trim replace reverse left right
  repeat lpad rpad split regexp_like regexp_replace regexp_extract overlay abs round floor ceil power sqrt cbrt ln log
  exp sign greatest least current_date current_time current_timestamp at_time_zone date_add date_sub date_diff
  date_trunc extract to_date to_timestamp date time coalesce null_if if_func if_null nvl nvl2 try_cast safe_cast count
  sum avg min max group_concat string_agg list_agg array_agg count_if sum_if stddev stddev_pop stddev_samp variance
  var_pop var_samp median mode first last any_value approx_distinct approx_count_distinct approx_percentile percentile
  logical_and logical_or row_number rank dense_rank n_tile lead lag first_value last_value nth_value percent_rank
  cume_dist percentile_cont percentile_disc contains starts_with ends_with position initcap ascii chr char_func
  levenshtein hex mod_func random rand trunc_func pi radians degrees sin cos tan asin acos atan atan2 is_nan is_inf
  int_div date_format format_date year month day hour minute second day_of_week day_of_month day_of_year week_of_year
  quarter add_months months_between last_day epoch epoch_ms from_unixtime unix_timestamp make_date make_timestamp
  timestamp_trunc session_user array_func array_length array_size cardinality array_contains array_position
  array_concat array_sort array_reverse array_distinct array_join array_to_string unnest explode array_filter
  array_transform sequence struct_func struct_extract map_func map_keys map_values element_at json_extract
  json_extract_scalar json_array_length json_keys json_type parse_json to_json typeof lambda parameter placeholder
  null_safe_eq null_safe_neq similar_to any all bitwise_left_shift bitwise_right_shift subscript dot array_slice paren
  fetch group cube rollup grouping_sets lateral var window_spec d_pipe grouping arg_max arg_min quantile
  approx_quantile current_schema current_user current_datetime localtime localtimestamp timestamp datetime nullif xor
  generate_series corr covar_samp covar_pop week monthname dayname split_part str_position to_char to_number
  string_func object_agg convert_timezone date_bin timestamp_add timestamp_sub timestamp_diff named_argument limit_by
  `),
);

/** Fields whose object has them alone, so that they look like a node. */
export const plainFields: ReadonlySet<string> = new Set(
  words("this expressions name ctes window_name groups columns star count sets value type index"),
);

/** Parts of a query; a part that is not named is refused unless it is empty. */
export const selectParts: ReadonlySet<string> = new Set(
  words(`
  expressions from joins lateral_views prewhere where_clause group_by having qualify order_by limit offset limit_by
  fetch distinct distinct_on top with windows leading_comments post_select_comments trailing_comments
  `),
);

/** Of a reference to a table, beside its name. */
export const referenceParts: ReadonlySet<string> = new Set(
  words(
    `name schema catalog alias alias_explicit_as column_aliases leading_comments trailing_comments span`,
  ),
);

export const insertParts: ReadonlySet<string> = new Set(
  words(
    "table columns values query default_values with returning leading_comments trailing_comments column_parens",
  ),
);
export const updateParts: ReadonlySet<string> = new Set(
  words(
    "table extra_tables set from_clause from_joins table_joins where_clause returning with leading_comments trailing_comments",
  ),
);
export const deleteParts: ReadonlySet<string> = new Set(
  words("table using where_clause returning with alias leading_comments trailing_comments"),
);
export const createParts: ReadonlySet<string> = new Set(
  words(
    "name if_not_exists temporary or_replace as_select with_cte leading_comments trailing_comments",
  ),
);
export const dropParts: ReadonlySet<string> = new Set(
  words("names if_exists leading_comments trailing_comments"),
);
export const truncateParts: ReadonlySet<string> = new Set(
  words("table target leading_comments trailing_comments"),
);

/** Functions that the parser does not know, and that touch their arguments alone in every engine that has them. */
export const knownFunctions: ReadonlySet<string> = new Set(
  words(`
  abs ceil ceiling floor round trunc truncate sign sqrt cbrt exp ln log log2 log10 power pow mod rem sin cos tan cot asin
  acos atan atan2 degrees radians pi random rand greatest least coalesce nullif ifnull isnull nvl nvl2 iff if
  lower upper lcase ucase length char_length character_length octet_length bit_length trim ltrim rtrim btrim lpad rpad
  left right substr substring mid replace reverse repeat space concat concat_ws format printf initcap ascii chr char ord
  instr locate position strpos split split_part string_split string_to_array regexp_replace regexp_like regexp_matches
  regexp_extract regexp_extract_all regexp_count regexp_instr starts_with startswith endswith ends_with contains prefix
  suffix translate md5 sha1 sha2 sha256 sha512 hash crc32 xxhash64 to_hex from_hex hex unhex to_base64 from_base64 base64
  levenshtein soundex quote_literal quote_ident overlay
  now today current_date current_time current_timestamp localtime localtimestamp transaction_timestamp
  statement_timestamp date time timestamp datetime date_add date_sub adddate subdate dateadd datediff date_diff datesub
  date_trunc datetrunc date_part datepart date_format format_datetime parse_datetime str_to_date strftime strptime
  to_char to_date to_timestamp to_number from_unixtime unix_timestamp epoch epoch_ms make_date make_time make_timestamp
  year quarter month week day hour minute second millisecond microsecond dayofweek dayofmonth dayofyear weekofyear
  weekday yearweek last_day dayname monthname age extract timezone at_timezone from_iso8601_timestamp from_iso8601_date
  to_unixtime to_iso8601 toyear tomonth todayofmonth tohour todate todatetime tostring touint8 touint16 touint32 touint64
  toint8 toint16 toint32 toint64 tofloat32 tofloat64 tostartofday tostartofmonth tostartofweek tostartofyear
  tostartofhour toyyyymm toyyyymmdd formatdatetime
  count sum avg mean min max any any_value arbitrary every bool_and bool_or bit_and bit_or bit_xor first last
  first_value last_value nth_value lag lead rank dense_rank row_number ntile percent_rank cume_dist stddev stddev_pop
  stddev_samp variance var_pop var_samp median mode quantile quantile_cont quantile_disc approx_quantile approx_distinct
  approx_percentile uniq uniqexact corr covar_pop covar_samp regr_slope regr_intercept regr_r2 skewness kurtosis entropy
  max_by min_by arg_max arg_min argmax argmin count_if countif sumif avgif string_agg group_concat listagg array_agg
  list map_agg histogram grouping product fsum
  array array_length array_size cardinality array_contains list_contains has array_position array_join array_to_string
  array_concat list_concat array_distinct list_distinct array_sort list_sort array_slice list_slice array_append
  array_prepend array_remove list_value list_extract list_transform list_filter list_sum list_avg list_min list_max
  flatten unnest explode sequence generate_series range len element_at map map_keys map_values map_from_entries
  struct_pack struct_extract row named_struct tuple arrayjoin groupArray grouparray groupuniqarray
  json_extract json_extract_scalar json_extract_string json_value json_query json_array_length json_keys json_type
  json_object json_array json_valid json_format json_parse to_json to_jsonb json_build_object jsonb_build_object
  jsonb_array_length jsonb_extract_path jsonb_extract_path_text json_extract_path json_extract_path_text
  cast try_cast typeof pg_typeof tonullable assumenotnull multiif
  isnan isfinite isinf is_nan is_finite is_infinite bit_count bit_length width_bucket uuid gen_random_uuid
  current_user session_user user current_schema current_database database schema version
  `).map((name) => name.toLowerCase()),
);
