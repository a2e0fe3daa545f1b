/**
 * The native structs that one thread needs for one statement, made once and used for all of them:
 * making them costs more than a small query.
 */
import { arrayStruct, handleStruct, schemaStruct, streamStruct } from "./abi.ts";
import { Block } from "./native.ts";

/** Most arrays of a stream that are kept before they become a message. */
export const arraysHeldMax = 64;

export interface Structs {
  readonly connection: Block;
  readonly statement: Block;
  readonly stream: Block;
  readonly schema: Block;
  /** A 64-bit count. */
  readonly affected: Block;
  /** Room for `arraysHeldMax` arrays, one behind the other. */
  readonly arrays: Block;
}

/** One set for a thread, which serves one statement at a time. Never given back: the thread ends with it. */
export function threadStructs(): Structs {
  return {
    connection: new Block(handleStruct.bytes),
    statement: new Block(handleStruct.bytes),
    stream: new Block(streamStruct.bytes),
    schema: new Block(schemaStruct.bytes),
    affected: new Block(8),
    arrays: new Block(arrayStruct.bytes * arraysHeldMax),
  };
}
