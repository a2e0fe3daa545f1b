/**
 * One `FlightData` as bytes, written by hand: the batch's buffers are copied once, straight to their place in the
 * message that leaves.
 */
import { Buffer } from "node:buffer";
import { aligned, batchMetadata } from "@gateway/wire/flight/arrowWrite.ts";
import type { Body } from "./body.ts";

/** `data_header = 2` and `data_body = 1000` of `FlightData`, both length-delimited. */
const headerTag = 0x12;
const bodyTag = [0xc2, 0x3e] as const;
const emptyMessage = 0;

/** The message that holds a schema, or metadata alone. */
export function headerMessage(metadata: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(1 + varintBytes(metadata.length) + metadata.length);
  out[0] = headerTag;
  out.set(metadata, putVarint(out, 1, metadata.length));
  return out;
}

/** The message that holds a record batch. */
export function batchMessage({ rows, nodes, buffers }: Body): Buffer {
  const bufferLengths = buffers.map(({ length }) => length);
  const { metadata, bodyBytes } = batchMetadata({ rows, nodes, bufferLengths });
  const head = 1 + varintBytes(metadata.length) + metadata.length;
  const bodyHead = bodyBytes === emptyMessage ? 0 : 2 + varintBytes(bodyBytes);
  const out = Buffer.allocUnsafe(head + bodyHead + bodyBytes);
  out[0] = headerTag;
  let at = putVarint(out, 1, metadata.length);
  out.set(metadata, at);
  at += metadata.length;
  if (bodyBytes === emptyMessage) return out;
  out.set(bodyTag, at);
  at = putVarint(out, at + 2, bodyBytes);
  for (const { length, chunks } of buffers) {
    let end = at;
    for (const chunk of chunks) {
      out.set(chunk, end);
      end += chunk.length;
    }
    at += aligned(length);
    out.fill(0, end, at);
  }
  return out;
}

function varintBytes(value: number): number {
  let count = 1;
  for (let left = value; left >= 0x80; left = Math.floor(left / 0x80)) count += 1;
  return count;
}

/** Returns the place behind it. */
function putVarint(out: Uint8Array, at: number, value: number): number {
  let left = value;
  let end = at;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) {
    out[end] = (left % 0x80) | 0x80;
    end += 1;
  }
  out[end] = left;
  return end + 1;
}
