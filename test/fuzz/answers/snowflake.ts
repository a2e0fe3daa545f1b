/** The documents of Snowflake's drivers and of its SQL API, version 2. Cells are texts or null there. */
import { z } from "zod";
import { count, has, text } from "./members.ts";

const cell = z.union([z.string(), z.null()]);

const snowflakeCode = z.string().regex(/^\d{6}$/);
const sqlState = z.string().regex(/^[0-9A-Z]{5}$/);

const failure = z.strictObject({
  success: z.literal(false),
  code: snowflakeCode,
  message: text,
  data: z.union([z.null(), z.looseObject({ errorCode: snowflakeCode, sqlState })]),
});
const running = z.strictObject({
  success: z.literal(true),
  code: z.enum(["333333", "333334"]),
  message: text,
  data: z.looseObject({ queryId: text, getResultUrl: text }),
});
const resultData = z
  .looseObject({
    rowtype: z.array(z.looseObject({ name: z.string(), type: text, nullable: z.boolean() })),
    queryResultFormat: z.enum(["json", "arrow"]),
    total: count,
    returned: count,
    statementTypeId: count,
    // What the gateway answers of itself is no query, and has none.
    queryId: z.string(),
    rowset: z.array(z.array(cell)).optional(),
    rowsetBase64: z.string().optional(),
    chunks: z.array(z.looseObject({ url: text, rowCount: count })).optional(),
  })
  .refine(
    ({ queryResultFormat: format, rowset, rowsetBase64 }) =>
      (rowset !== undefined) === (format === "json") &&
      (rowsetBase64 !== undefined) === (format === "arrow"),
    "rows in the form that is named",
  )
  .refine(
    ({ rowset = [], rowtype }) => rowset.every((row) => row.length === rowtype.length),
    "a cell for each column",
  )
  .refine(
    ({ rowset, chunks = [], total }) =>
      rowset === undefined ||
      total === rowset.length + chunks.reduce((sum, { rowCount }) => sum + rowCount, 0),
    "as many rows as its total",
  );
const success = z.strictObject({
  success: z.literal(true),
  code: z.null(),
  message: z.null(),
  data: z.unknown(),
});

const rows = z.array(z.array(cell));
const apiTold = {
  code: snowflakeCode,
  sqlState: z.union([sqlState, z.literal("")]),
  message: text,
  statementHandle: text.optional(),
  statementStatusUrl: text.optional(),
};
const apiResult = z
  .strictObject({
    ...apiTold,
    createdOn: count,
    statementHandles: z.array(text).optional(),
    data: rows,
    resultSetMetaData: z.strictObject({
      numRows: count,
      format: z.literal("jsonv2"),
      rowType: z.array(z.looseObject({ name: z.string(), type: text })),
      partitionInfo: z.array(z.looseObject({ rowCount: count })),
    }),
  })
  .refine(
    ({ data, resultSetMetaData: { rowType } }) =>
      data.every((row) => row.length === rowType.length),
    "a cell for each column",
  )
  .refine(
    ({ data, resultSetMetaData: { numRows, partitionInfo } }) =>
      data.length === partitionInfo[0]?.rowCount &&
      numRows === partitionInfo.reduce((sum, { rowCount }) => sum + rowCount, 0),
    "as many rows as its partitions",
  );

/** What the document claims to be by its own members. */
export function snowflakeSchema(document: unknown, status: number): z.ZodType {
  if (has(document, "resultSetMetaData")) return apiResult;
  if (!has(document, "success")) {
    if (has(document, "data")) return z.strictObject({ data: rows });
    return z
      .strictObject(apiTold)
      .refine(({ code }) => status >= 400 || /^(333334|000604)$/.test(code), "a status of its own");
  }
  const { success: isSuccess, code, data } = document as z.output<typeof success>;
  if (!isSuccess) {
    return failure.refine((read) => read.data === null || read.data.errorCode === read.code, {
      message: "one code",
    });
  }
  if (status !== 200) return z.never("a success with another status than 200");
  if (code !== null) return running;
  return has(data, "rowtype") ? success.extend({ data: resultData }) : success;
}
