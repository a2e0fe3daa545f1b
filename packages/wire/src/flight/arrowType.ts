/** Arrow's types, fields and schemas as plain data, as far as they travel here. Numbers are those of `Schema.fbs`. */

export type ArrowUnit = "s" | "ms" | "us" | "ns";

export type ArrowType =
  | { readonly kind: "null" | "bool" | "utf8" | "largeUtf8" | "binary" | "largeBinary" }
  | { readonly kind: "int"; readonly bits: 8 | 16 | 32 | 64; readonly signed: boolean }
  | { readonly kind: "float"; readonly bits: 16 | 32 | 64 }
  | {
      readonly kind: "decimal";
      readonly precision: number;
      readonly scale: number;
      readonly bits: 128 | 256;
    }
  /** `ms`: milliseconds since the epoch in 64 bits. */
  | { readonly kind: "date"; readonly unit: "day" | "ms" }
  /** 32 bits up to milliseconds, 64 bits beyond. */
  | { readonly kind: "time"; readonly unit: ArrowUnit }
  | { readonly kind: "timestamp"; readonly unit: ArrowUnit; readonly zone: string | undefined }
  /** Months, days and nanoseconds. */
  | { readonly kind: "interval" }
  | { readonly kind: "fixedBinary"; readonly width: number }
  /** One child. */
  | { readonly kind: "list" }
  | { readonly kind: "struct" }
  /** One child: a struct of key and value. */
  | { readonly kind: "map" }
  /** Dense; the type id of a child is its place among them. */
  | { readonly kind: "union" };

export interface ArrowField {
  readonly name: string;
  readonly type: ArrowType;
  readonly nullable: boolean;
  readonly children: readonly ArrowField[];
  readonly metadata: ReadonlyMap<string, string>;
}

/** Members of the union `Type`. */
export const typeIds = {
  null: 1,
  int: 2,
  float: 3,
  binary: 4,
  utf8: 5,
  bool: 6,
  decimal: 7,
  date: 8,
  time: 9,
  timestamp: 10,
  interval: 11,
  list: 12,
  struct: 13,
  union: 14,
  fixedBinary: 15,
  map: 17,
  largeBinary: 19,
  largeUtf8: 20,
} as const satisfies Record<ArrowType["kind"], number>;

/** The order of `TimeUnit`. */
export const unitIds = ["s", "ms", "us", "ns"] as const satisfies readonly ArrowUnit[];

/** `MessageHeader`: what a message is. */
export const headers = { schema: 1, dictionary: 2, recordBatch: 3 } as const;

/** `MetadataVersion.V5`, in which a union has no validity. */
export const metadataVersion = 4;
