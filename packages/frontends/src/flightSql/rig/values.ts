/** Values of parameters as clients put them: a schema and one batch. */
import { create, fromBinary } from "@bufbuild/protobuf";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { DataType } from "@gateway/core/type/type.ts";
import { schemaMetadata } from "@gateway/wire/flight/arrowWrite.ts";
import { FlightDataSchema, type FlightData } from "../proto/Flight_pb.js";
import { bodyOf } from "../../arrow/body.ts";
import { BatchMessage } from "../value/message.ts";
import { fieldOf } from "../value/types.ts";

const integers: DataType = { kind: "integer", bits: 32, signed: true };

/** One column, of integers of 32 bits unless another type is given. */
export function valuesOf(
  values: readonly bigint[],
  type: DataType = integers,
): readonly FlightData[] {
  const column = columnOf("n", type);
  const batch = batchOf(
    [column],
    values.map((value) => [value]),
  );
  const message = new BatchMessage(bodyOf([{ batch, from: 0, count: batch.rows }]));
  const bytes = Buffer.alloc(message.byteLength);
  message.copy(bytes, 0);
  const schema = create(FlightDataSchema, { dataHeader: schemaMetadata([fieldOf(column)]) });
  return [schema, fromBinary(FlightDataSchema, bytes)];
}
