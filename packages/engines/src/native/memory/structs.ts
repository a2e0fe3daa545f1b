/**
 * The native structs that one thread needs for one statement, made once and used for all of them:
 * making them costs more than a small query.
 */
import { arrayStruct, handleStruct, schemaStruct, streamStruct } from "./abi.ts";
import { MemoryBlock } from "./native.ts";

/** Most arrays of a stream that are kept before they become a message. */
export const arraysHeldMax = 64;

export interface Structs {
  readonly connection: MemoryBlock;
  readonly statement: MemoryBlock;
  readonly stream: MemoryBlock;
  readonly schema: MemoryBlock;
  /** A 64-bit count. */
  readonly affected: MemoryBlock;
  /** Room for `arraysHeldMax` arrays, one behind the other. */
  readonly arrays: MemoryBlock;
}

/** One set for a thread, which serves one statement at a time. Never given back: the thread ends with it. */
export function threadStructs(): Structs {
  return {
    connection: new MemoryBlock(handleStruct.bytes),
    statement: new MemoryBlock(handleStruct.bytes),
    stream: new MemoryBlock(streamStruct.bytes),
    schema: new MemoryBlock(schemaStruct.bytes),
    affected: new MemoryBlock(8),
    arrays: new MemoryBlock(arrayStruct.bytes * arraysHeldMax),
  };
}
