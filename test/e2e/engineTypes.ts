/**
 * One value of every type that an engine answers with: how it comes from there, and a DuckDB expression
 * of the same value. What the engine's part of the conversation is belongs to the stand-ins.
 */

/** A type of an engine with one of its values. */
export interface TypeCase {
  /** The engine's own name of the type; unique per engine. */
  readonly type: string;
  /** The value as the engine is asked for it, or as it writes it. */
  readonly from: string;
  /** The same value from DuckDB. */
  readonly reference: string;
}

const int128 = "-170141183460469231731687303715884105728";
const uint128 = "340282366920938463463374607431768211455";
const uint256 = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
const uuid = "01234567-89ab-cdef-0123-456789abcdef";
const text = 'na\u00efve \u6f22\u5b57 \u{1f642} "';

function same(type: string, expression: string): TypeCase {
  return { type, from: expression, reference: expression };
}

function cased(type: string, from: string, reference: string): TypeCase {
  return { type, from, reference };
}

/** DuckDB's own types, for a DuckDB that is reached another way. */
export const duckDbTypes: readonly TypeCase[] = [
  same("BOOLEAN", "true"),
  same("TINYINT", "(-128)::tinyint"),
  same("SMALLINT", "(-32768)::smallint"),
  same("INTEGER", "(-2147483648)::integer"),
  same("BIGINT", "9223372036854775807::bigint"),
  same("HUGEINT", `(${int128})::hugeint`),
  same("UTINYINT", "255::utinyint"),
  same("USMALLINT", "65535::usmallint"),
  same("UINTEGER", "4294967295::uinteger"),
  same("UBIGINT", "18446744073709551615::ubigint"),
  same("UHUGEINT", `${uint128}::uhugeint`),
  same("FLOAT", "0.1::float"),
  same("DOUBLE", "1e300::double"),
  same("DECIMAL(4,2)", "(-0.05)::decimal(4,2)"),
  same("DECIMAL(38,0)", "12345678901234567890123456789012345678::decimal(38,0)"),
  same("VARCHAR", `'${text}'`),
  same("ENUM", "'b'::enum('a', 'b')"),
  same("BIT", "'10101'::bit"),
  same("BIGNUM", `'${uint256}'::bignum`),
  same("BLOB", "unhex('00FF')"),
  same("DATE", "date '2024-02-29'"),
  same("TIME", "time '23:59:59.123456'"),
  same("TIME_NS", "'23:59:59.123456789'::time_ns"),
  same("TIME WITH TIME ZONE", "'23:59:59.123456+02'::timetz"),
  same("TIMESTAMP_S", "'2024-02-29 23:59:59'::timestamp_s"),
  same("TIMESTAMP_MS", "'2024-02-29 23:59:59.123'::timestamp_ms"),
  same("TIMESTAMP", "timestamp '2024-02-29 23:59:59.123456'"),
  same("TIMESTAMP_NS", "'2024-02-29 23:59:59.123456789'::timestamp_ns"),
  same("TIMESTAMP WITH TIME ZONE", "timestamptz '2024-02-29 23:59:59.123456+02'"),
  same("INTERVAL", "interval '14 months 3 days 04:05:06.789'"),
  same("UUID", `uuid '${uuid}'`),
  same("JSON", `'{"a": [1, null]}'::json`),
  same("BIGINT[]", "[1, null, 3]::bigint[]"),
  same("BIGINT[3]", "[1, 2, 3]::bigint[3]"),
  same("BIGINT[][]", "[[1], [2, 3]]::bigint[][]"),
  same("STRUCT", "{'a': 1::bigint, 'b': 'x'}"),
  same("MAP", "map {'k': 7::bigint}"),
  same("UNION", "union_value(n := 1::bigint)"),
  same("NULL", "null::integer"),
];

/** ClickHouse's types. Their values are in `clickHouseBlock`, in this order; `from` names the type. */
export const clickHouseTypes: readonly TypeCase[] = [
  cased("Bool", "Bool", "true"),
  cased("Int8", "Int8", "(-128)::tinyint"),
  cased("Int16", "Int16", "(-32768)::smallint"),
  cased("Int32", "Int32", "(-2147483648)::integer"),
  cased("Int64", "Int64", "9223372036854775807::bigint"),
  cased("Int128", "Int128", `(${int128})::hugeint`),
  cased("Int256", "Int256", "'-1'"),
  cased("UInt8", "UInt8", "255::utinyint"),
  cased("UInt16", "UInt16", "65535::usmallint"),
  cased("UInt32", "UInt32", "4294967295::uinteger"),
  cased("UInt64", "UInt64", "18446744073709551615::ubigint"),
  cased("UInt128", "UInt128", `${uint128}::uhugeint`),
  cased("UInt256", "UInt256", `'${uint256}'`),
  cased("Float32", "Float32", "0.1::float"),
  cased("Float64", "Float64", "1e300::double"),
  cased("BFloat16", "BFloat16", "1.5::float"),
  cased("Decimal32", "Decimal(9, 2)", "(-0.05)::decimal(9,2)"),
  cased("Decimal64", "Decimal(18, 3)", "(-12.345)::decimal(18,3)"),
  cased("Decimal128", "Decimal(38, 3)", "1.5::decimal(38,3)"),
  cased("Decimal256", "Decimal(76, 3)", "'-1.500'"),
  cased("String", "String", "'na\u00efve \u6f22\u5b57 \u{1f642}'"),
  cased("FixedString", "FixedString(4)", "unhex('00FF4100')"),
  cased("LowCardinality", "LowCardinality(String)", "'x'"),
  cased("Enum8", "Enum8('a' = 1, 'b' = 2)", "'b'"),
  cased("Enum16", "Enum16('a' = 1, 'b' = 300)", "'b'"),
  cased("UUID", "UUID", `uuid '${uuid}'`),
  cased("Date", "Date", "date '2024-02-29'"),
  cased("Date32", "Date32", "date '1900-01-01'"),
  cased("DateTime", "DateTime('Europe/Berlin')", "timestamptz '2024-02-29 11:34:56+00'"),
  cased("DateTime64(0)", "DateTime64(0, 'UTC')", "timestamptz '2024-02-29 12:34:56+00'"),
  cased("DateTime64(1)", "DateTime64(1, 'UTC')", "timestamptz '2024-02-29 12:34:56.1+00'"),
  cased("DateTime64(3)", "DateTime64(3, 'UTC')", "timestamptz '2024-02-29 12:34:56.123+00'"),
  cased("DateTime64(5)", "DateTime64(5, 'UTC')", "timestamptz '2024-02-29 12:34:56.12345+00'"),
  cased("DateTime64(6)", "DateTime64(6, 'UTC')", "timestamptz '2024-02-29 12:34:56.123456+00'"),
  cased("DateTime64(9)", "DateTime64(9, 'UTC')", "'2024-02-29 12:34:56.123456789'::timestamp_ns"),
  cased("Time", "Time", "'12:34:56'"),
  cased("Time64", "Time64(6)", "'12:34:56.789000'"),
  cased("IntervalSecond", "IntervalSecond", "interval '90 seconds'"),
  cased("IntervalDay", "IntervalDay", "interval '3 days'"),
  cased("IntervalMonth", "IntervalMonth", "interval '14 months'"),
  cased("IPv4", "IPv4", "'1.2.3.4'"),
  cased("IPv6", "IPv6", "'2001:db8::1'"),
  cased("JSON", "JSON", `'{"a":1}'::json`),
  cased("Array", "Array(Int64)", "[1, 2, 3]::bigint[]"),
  cased("Array(Nullable)", "Array(Nullable(Int64))", "[1, null, 3]::bigint[]"),
  cased("Array(Array)", "Array(Array(Int64))", "[[1], [2, 3]]::bigint[][]"),
  cased("Tuple", "Tuple(a Int64, b String)", "{'a': 1::bigint, 'b': 'x'}"),
  cased("Map", "Map(String, Int64)", "map {'k': 7::bigint}"),
  cased("Point", "Point", "{'1': 1.5::double, '2': 2.5::double}"),
  cased("Nested", "Nested(a Int64, b String)", "[{'a': 1::bigint, 'b': 'x'}]"),
  cased("Nullable", "Nullable(Int32)", "null::integer"),
  cased("Nothing", "Nullable(Nothing)", "null"),
];

/** One row of `clickHouseTypes` in a Native block, as ClickHouse 26 wrote it. Base64. */
export const clickHouseBlock = [
  "NAECYzAEQm9vbAECYzEESW50OIACYzIFSW50MTYAgAJjMwVJbnQzMgAAAIACYzQFSW50NjT/////////fwJjNQZJbn",
  "QxMjgAAAAAAAAAAAAAAAAAAACAAmM2BkludDI1Nv//////////////////////////////////////////AmM3BVVJ",
  "bnQ4/wJjOAZVSW50MTb//wJjOQZVSW50MzL/////A2MxMAZVSW50NjT//////////wNjMTEHVUludDEyOP////////",
  "////////////8DYzEyB1VJbnQyNTb//////////////////////////////////////////wNjMTMHRmxvYXQzMs3M",
  "zD0DYzE0B0Zsb2F0NjScdQCIPOQ3fgNjMTUIQkZsb2F0MTbAPwNjMTYNRGVjaW1hbCg5LCAyKfv///8DYzE3DkRlY2",
  "ltYWwoMTgsIDMpx8////////8DYzE4DkRlY2ltYWwoMzgsIDMp3AUAAAAAAAAAAAAAAAAAAANjMTkORGVjaW1hbCg3",
  "NiwgMykk+v///////////////////////////////////////wNjMjAGU3RyaW5nEm5hw692ZSDmvKLlrZcg8J+Zgg",
  "NjMjEORml4ZWRTdHJpbmcoNCkA/0EAA2MyMhZMb3dDYXJkaW5hbGl0eShTdHJpbmcpAQAAAAAAAAAABgAAAAAAAAIA",
  "AAAAAAAAAAF4AQAAAAAAAAABA2MyMxdFbnVtOCgnYScgPSAxLCAnYicgPSAyKQIDYzI0GkVudW0xNignYScgPSAxLC",
  "AnYicgPSAzMDApLAEDYzI1BFVVSUTvzauJZ0UjAe/Nq4lnRSMBA2MyNgREYXRlRk0DYzI3BkRhdGUzMiGc//8DYzI4",
  "CERhdGVUaW1l4GvgZQNjMjkURGF0ZVRpbWU2NCgwLCAnVVRDJynweeBlAAAAAANjMzAURGF0ZVRpbWU2NCgxLCAnVV",
  "RDJylhw8T6AwAAAANjMzEURGF0ZVRpbWU2NCgzLCAnVVRDJyn7Udz0jQEAAANjMzIURGF0ZVRpbWU2NCg1LCAnVVRD",
  "Jyk5BhCmc5sAAANjMzMURGF0ZVRpbWU2NCg2LCAnVVRDJylAPqB8hBIGAANjMzQURGF0ZVRpbWU2NCg5LCAnVVRDJy",
  "kVLfPRhlW4FwNjMzUEVGltZfCwAAADYzM2CVRpbWU2NCg2KQgm5osKAAAAA2MzNw5JbnRlcnZhbFNlY29uZFoAAAAA",
  "AAAAA2MzOAtJbnRlcnZhbERheQMAAAAAAAAAA2MzOQ1JbnRlcnZhbE1vbnRoDgAAAAAAAAADYzQwBElQdjQEAwIBA2",
  "M0MQRJUHY2IAENuAAAAAAAAAAAAAAAAQNjNDIESlNPTgEAAAAAAAAAB3siYSI6MX0DYzQzDEFycmF5KEludDY0KQMA",
  "AAAAAAAAAQAAAAAAAAACAAAAAAAAAAMAAAAAAAAAA2M0NBZBcnJheShOdWxsYWJsZShJbnQ2NCkpAwAAAAAAAAAAAQ",
  "ABAAAAAAAAAAAAAAAAAAAAAwAAAAAAAAADYzQ1E0FycmF5KEFycmF5KEludDY0KSkCAAAAAAAAAAEAAAAAAAAAAwAA",
  "AAAAAAABAAAAAAAAAAIAAAAAAAAAAwAAAAAAAAADYzQ2GFR1cGxlKGEgSW50NjQsIGIgU3RyaW5nKQEAAAAAAAAAAX",
  "gDYzQ3Ek1hcChTdHJpbmcsIEludDY0KQEAAAAAAAAAAWsHAAAAAAAAAANjNDgFUG9pbnQAAAAAAAD4PwAAAAAAAARA",
  "A2M0ORlOZXN0ZWQoYSBJbnQ2NCwgYiBTdHJpbmcpAQAAAAAAAAABAAAAAAAAAAF4A2M1MA9OdWxsYWJsZShJbnQzMi",
  "kBAAAAAANjNTERTnVsbGFibGUoTm90aGluZykBMA==",
].join("");

/** StarRocks' types as its MySQL wire has them. `from` is asked of a gateway that stands in its place. */
export const starRocksTypes: readonly TypeCase[] = [
  same("BOOLEAN", "true"),
  same("TINYINT", "(-128)::tinyint"),
  same("SMALLINT", "(-32768)::smallint"),
  same("INT", "(-2147483648)::integer"),
  same("BIGINT", "9223372036854775807::bigint"),
  cased("LARGEINT", `'${int128}'`, `(${int128})::hugeint`),
  same("BIGINT UNSIGNED", "18446744073709551615::ubigint"),
  same("FLOAT", "0.1::float"),
  same("DOUBLE", "1e300::double"),
  same("DECIMAL(4,2)", "(-0.05)::decimal(4,2)"),
  same("DECIMAL(38,0)", "12345678901234567890123456789012345678::decimal(38,0)"),
  same("VARCHAR", `'${text}'`),
  same("VARBINARY", "unhex('00FF')"),
  same("DATE", "date '2024-02-29'"),
  same("DATETIME", "timestamp '2024-02-29 23:59:59.123456'"),
  cased("TIME", "time '23:59:59.123456'", "'23:59:59.123456'"),
  same("JSON", `'{"a": [1, null]}'::json`),
  cased("ARRAY", "'[1,null,3]'", "[1, null, 3]::bigint[]"),
  cased("MAP", `'{"k":7}'`, "map {'k': 7::bigint}"),
  cased("STRUCT", `'{"a":1,"b":"x"}'`, "{'a': 1::bigint, 'b': 'x'}"),
  same("NULL", "null::integer"),
];

/** Trino's types. `from` is the JSON that Trino writes for the value. */
export const trinoTypes: readonly TypeCase[] = [
  cased("boolean", "true", "true"),
  cased("tinyint", "-128", "(-128)::tinyint"),
  cased("smallint", "-32768", "(-32768)::smallint"),
  cased("integer", "-2147483648", "(-2147483648)::integer"),
  cased("bigint", "9223372036854775807", "9223372036854775807::bigint"),
  cased("real", "0.1", "0.1::float"),
  cased("double", "1.0E300", "1e300::double"),
  cased("decimal(4, 2)", '"-0.05"', "(-0.05)::decimal(4,2)"),
  cased(
    "decimal(38, 0)",
    '"12345678901234567890123456789012345678"',
    "12345678901234567890123456789012345678::decimal(38,0)",
  ),
  cased("varchar", JSON.stringify(text), `'${text}'`),
  cased("varchar(3)", '"abc"', "'abc'"),
  cased("char(5)", '"ab   "', "'ab   '"),
  cased("varbinary", '"AP8="', "unhex('00FF')"),
  cased("date", '"2024-02-29"', "date '2024-02-29'"),
  cased("time(0)", '"23:59:59"', "time '23:59:59'"),
  cased("time(3)", '"23:59:59.123"', "time '23:59:59.123'"),
  cased("time(6)", '"23:59:59.123456"', "time '23:59:59.123456'"),
  cased("time(9)", '"23:59:59.123456789"', "'23:59:59.123456789'::time_ns"),
  cased("time(12)", '"23:59:59.123456789012"', "'23:59:59.123456789012'"),
  cased("time(3) with time zone", '"23:59:59.123+02:00"', "'23:59:59.123+02:00'"),
  cased("timestamp(0)", '"2024-02-29 23:59:59"', "'2024-02-29 23:59:59'::timestamp_s"),
  cased("timestamp(3)", '"2024-02-29 23:59:59.123"', "'2024-02-29 23:59:59.123'::timestamp_ms"),
  cased("timestamp(4)", '"2024-02-29 23:59:59.1234"', "timestamp '2024-02-29 23:59:59.1234'"),
  cased("timestamp(6)", '"2024-02-29 23:59:59.123456"', "timestamp '2024-02-29 23:59:59.123456'"),
  cased(
    "timestamp(9)",
    '"2024-02-29 23:59:59.123456789"',
    "'2024-02-29 23:59:59.123456789'::timestamp_ns",
  ),
  cased(
    "timestamp(12)",
    '"2024-02-29 23:59:59.123456789012"',
    "'2024-02-29 23:59:59.123456789012'",
  ),
  cased(
    "timestamp(3) with time zone",
    '"2024-02-29 23:59:59.123 Europe/Berlin"',
    "timestamptz '2024-02-29 22:59:59.123+00'",
  ),
  cased(
    "timestamp(6) with time zone",
    '"2024-02-29 23:59:59.123456 UTC"',
    "timestamptz '2024-02-29 23:59:59.123456+00'",
  ),
  cased("interval year to month", '"1-2"', "interval '14 months'"),
  cased("interval day to second", '"3 04:05:06.789"', "interval '3 days 04:05:06.789'"),
  cased("uuid", `"${uuid}"`, `uuid '${uuid}'`),
  cased("json", `"{\\"a\\":[1,null]}"`, `'{"a":[1,null]}'::json`),
  cased("ipaddress", '"2001:db8::1"', "'2001:db8::1'"),
  cased("HyperLogLog", '"AgwBAIADRAA="', "'AgwBAIADRAA='"),
  cased("array(bigint)", "[1,null,3]", "[1, null, 3]::bigint[]"),
  cased("array(array(bigint))", "[[1],[2,3]]", "[[1], [2, 3]]::bigint[][]"),
  cased("map(varchar, bigint)", '{"k":7}', "map {'k': 7::bigint}"),
  cased('row("a" bigint, "b" varchar)', '[1,"x"]', "{'a': 1::bigint, 'b': 'x'}"),
  cased("unknown", "null", "null"),
];
