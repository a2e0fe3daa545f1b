/** Something that a ticket leads to: rows, and the fields that they have. */
import type { GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { ArrowMessage, ColumnarBatch } from "@gateway/core/type/vector.ts";
import type { ArrowField } from "@gateway/wire/flight/arrowType.ts";
import { schemaMetadata } from "@gateway/wire/flight/arrowWrite.ts";
import { bodyOf, type Body } from "../../arrow/body.ts";
import { BatchMessage, EngineMessage, headerMessage, type Message } from "../value/message.ts";
import { aloneBytesMin, messageBytesMax, type Packer } from "../../arrow/packer.ts";
import { fieldOf } from "../value/types.ts";
import type { Parkable } from "./tickets.ts";

/** Where messages go. */
export interface Sink {
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
  /** Undefined when the message was taken, otherwise a promise for that. Until then its buffers must not change. */
  send(message: Message): Promise<void> | undefined;
}

/** Rows that can be sent once. */
export interface Source extends Parkable {
  readonly fields: readonly ArrowField[];
  /** Sends the schema and all rows. An error breaks the result off. */
  send(sink: Sink): Promise<Result<void, GatewayError>>;
}

/** The first message of every result. */
export function sendSchema(sink: Sink, fields: readonly ArrowField[]): Promise<void> | undefined {
  return sink.send(headerMessage(schemaMetadata(fields)));
}

/** Sends the rows of a batch that are enough for a message; the others wait in the packer. */
export async function sendBatch(sink: Sink, packer: Packer, batch: ColumnarBatch): Promise<void> {
  const whole = wholeMessage(batch);
  if (whole !== undefined) {
    await flush(sink, packer);
    if (!sink.signal.aborted) await sink.send(new EngineMessage(whole));
    return;
  }
  for (const body of packer.add(batch)) {
    const full = sink.send(new BatchMessage(body));
    if (full !== undefined) await full;
    if (sink.signal.aborted) return;
  }
}

/** The engine's own message where its size is good: a small one waits for others, and a large one is cut. */
function wholeMessage({ arrow }: ColumnarBatch): ArrowMessage | undefined {
  const bytes = arrow?.body.length ?? 0;
  return bytes >= aloneBytesMin && bytes <= messageBytesMax * 2 ? arrow : undefined;
}

/** Sends the rows that wait. */
export async function flush(sink: Sink, packer: Packer): Promise<void> {
  if (packer.waits) await sink.send(new BatchMessage(packer.take()));
}

/** Rows that are made when they are asked for, or an error. */
export type MakeBatch = (signal: AbortSignal) => Promise<Result<ColumnarBatch, GatewayError>>;

/** A result of the gateway's own, in one batch. */
export function madeSource(columns: readonly Column[], make: MakeBatch): Source {
  const fields = columns.map(fieldOf);
  return bodySource(fields, async (signal) => {
    const made = await make(signal);
    return made.ok ? ok(bodyOf([{ batch: made.value, from: 0, count: made.value.rows }])) : made;
  });
}

/** The same for a body of types that only Arrow has. */
export function bodySource(
  fields: readonly ArrowField[],
  make: (signal: AbortSignal) => Promise<Result<Body, GatewayError>>,
): Source {
  return {
    transaction: undefined,
    fields,
    cancel: () => undefined,
    send: async (sink) => {
      const body = await make(sink.signal);
      if (!body.ok) return err(body.error);
      await sendSchema(sink, fields);
      if (body.value.rows > 0) await sink.send(new BatchMessage(body.value));
      return ok(undefined);
    },
  };
}
