/**
 * The answer to one statement on its way to the client: rows that are held at first, a head, pieces, an end or a
 * break. What may come when is in machine.ts; what the bytes mean is whoever's that writes them.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { giveBack } from "@gateway/core/tool/socket/lent.ts";
import { turnBytesMax } from "@gateway/core/tool/turn.ts";
import { exceptionBlock, exceptionText } from "@gateway/wire/clickhouse/exception.ts";
import { turnWrites } from "../../turn.ts";
import { refusalOf } from "../errors.ts";
import { heldBytesMax, wholeBytesMax, wholeBytesOfAllMax } from "../limits.ts";
import { answerSteps, type AnswerEvent, type AnswerState } from "../machine.ts";
import { headerText, headLines, summaryOf } from "./headLines.ts";
import { unpackedBytes, type Packing } from "./packing.ts";
import { PlainResponse } from "../../listener/http/plain/response.ts";
import { drained, type HttpRequest, type HttpResponse } from "../../listener/http/exchange.ts";

export interface AnswerOptions {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** The id that the client gave, or got. */
  readonly queryId: string;
  /** Everything is held until the last row is there. */
  readonly whole: boolean;
  readonly packing: Packing;
  /** Makes sixteen letters that no row holds. */
  readonly tag: () => string;
  readonly held: HeldBytes;
}

/** Bytes that wait for the end of their results, of all answers together. One per listener. */
export interface HeldBytes {
  bytes: number;
}

/** What the head says of the work. */
export interface Work {
  readonly resultRows: number;
  readonly writtenRows: number;
  readonly elapsedMs: number;
}

const noWork: Work = { resultRows: 0, writtenRows: 0, elapsedMs: 0 };
const plainText = "text/plain; charset=UTF-8";

export class Answer {
  readonly #request: HttpRequest;
  readonly #response: HttpResponse;
  readonly #whole: boolean;
  #packing: Packing | undefined;
  /** Made where a head goes out before its rows are all there. */
  readonly #newTag: () => string;
  /** Undefined where rows of an engine pass that knows none. */
  #tag: string | undefined;
  #state: AnswerState = "waiting";
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #relayed = false;
  /** Headers that are not said yet: most answers go out with all of theirs at once. */
  #queryId: string;
  #passed: Readonly<Record<string, string>> | undefined;
  #allHere = false;
  readonly #heldOfAll: HeldBytes;

  constructor({ request, response, queryId, whole, packing, tag, held }: AnswerOptions) {
    this.#heldOfAll = held;
    this.#request = request;
    this.#response = response;
    this.#whole = whole;
    this.#packing = packing;
    this.#newTag = tag;
    this.#queryId = queryId;
  }

  get over(): boolean {
    return this.#state === "over" || this.#response.destroyed;
  }

  /** Rows that the gateway writes. */
  describes(format: string, contentType: string): void {
    this.#say();
    this.#response.setHeader("Content-Type", contentType);
    this.#response.setHeader("X-ClickHouse-Format", format);
    this.#response.setHeader("X-ClickHouse-Timezone", "UTC");
    this.#response.setHeader("X-ClickHouse-Server-Display-Name", "gateway");
  }

  /** Rows that pass as the engine sends them, and the headers they came with. */
  relays(headers: Readonly<Record<string, string>>): void {
    this.#relayed = true;
    this.#passed = headers;
    this.#packing = undefined;
    this.#tag = headers["x-clickhouse-exception-tag"];
  }

  /** All rows are here: there is no first one that a client could have sooner. */
  holdAll(): void {
    this.#allHere = true;
  }

  /** Passes a piece on, or holds it. The promise is there while the client does not take it. */
  rows(bytes: Uint8Array): Promise<void> | undefined {
    if (bytes.length === 0 || this.over) return undefined;
    if (this.#state === "waiting") {
      this.#held.push(bytes);
      this.#heldBytes += bytes.length;
      this.#heldOfAll.bytes += bytes.length;
      const whole = this.#whole && !this.#relayed;
      if (this.#heldBytes <= this.#heldMax(whole)) return undefined;
      if (whole) {
        this.fail(tooMuchHeld(), false);
        return undefined;
      }
    }
    const { does } = this.#step("rows");
    if (does === "nothing") return undefined;
    if (does === "sendRows") return this.#send(bytes);
    this.#sendHead(noWork);
    const held = Buffer.concat(this.#held);
    this.#letGo();
    return this.#send(held);
  }

  /** The last row is there. A promise only where something has to be packed. */
  end(work: Work): Promise<void> | undefined {
    switch (this.#step("end").does) {
      case "sendWhole": {
        const held = this.#held;
        const [first] = held;
        const rows = first !== undefined && held.length === 1 ? first : Buffer.concat(held);
        const packing = this.#packing;
        if (packing === undefined || packing === unpackedBytes || rows.length === 0) {
          this.#sendWhole(rows, work);
          return undefined;
        }
        return this.#sendPacked(packing, rows, work);
      }
      case "finish": {
        const due = this.#packing?.end(this.#response);
        if (due !== undefined) return due.then(() => this.#finish());
        this.#finish();
        return undefined;
      }
      default:
        return undefined;
    }
  }

  /** `told`: the client has read why in the engine's own bytes. */
  fail(error: GatewayError, told: boolean): void {
    const refusal = refusalOf(error);
    switch (this.#step(told ? "toldFailure" : "failure").does) {
      case "refuse": {
        const response = this.#response;
        this.#say();
        response.statusCode = refusal.status;
        response.removeHeader("Content-Encoding");
        response.removeHeader("X-ClickHouse-Format");
        response.setHeader("Content-Type", plainText);
        response.setHeader("X-ClickHouse-Exception-Code", String(refusal.code));
        if (refusal.status === 401) {
          response.setHeader("WWW-Authenticate", 'Basic realm="ClickHouse server HTTP API"');
        }
        if (error.retryAfterMs !== undefined) {
          response.setHeader("Retry-After", Math.ceil(error.retryAfterMs / 1000));
        }
        this.#finish(Buffer.from(exceptionText(refusal)));
        return;
      }
      case "breakOff": {
        const tag = this.#tag;
        const encoded = this.#packing === undefined && this.#response.hasHeader("content-encoding");
        const text = tag === undefined ? exceptionText(refusal) : exceptionBlock(tag, refusal);
        void this.#break(encoded ? new Uint8Array(0) : Buffer.from(text));
        return;
      }
      case "cut":
        void this.#break(new Uint8Array(0));
        return;
      default:
        return;
    }
  }

  left(): void {
    this.#step("left");
    this.#letGo();
  }

  /** The engine of relayed rows holds them itself where its client asked for that. */
  #heldMax(whole: boolean): number {
    if (this.#relayed) return this.#allHere ? heldBytesMax : 0;
    return whole && this.#heldOfAll.bytes <= wholeBytesOfAllMax ? wholeBytesMax : heldBytesMax;
  }

  #letGo(): void {
    this.#heldOfAll.bytes -= this.#heldBytes;
    this.#heldBytes = 0;
    this.#held = [];
  }

  #step(event: AnswerEvent) {
    const step = answerSteps[this.#state][event];
    this.#state = step.state;
    return step;
  }

  #summarize(work: Work): void {
    this.#response.setHeader("X-ClickHouse-Summary", summaryOf(work));
  }

  /** Says the headers that are known. Before any other is said, or asked for. */
  #say(): void {
    const queryId = this.#queryId;
    const passed = this.#passed;
    this.#queryId = "";
    this.#passed = undefined;
    if (queryId !== "") this.#response.setHeader("X-ClickHouse-Query-Id", headerText(queryId));
    for (const name in passed) this.#response.setHeader(name, passed[name] ?? "");
  }

  #sendHead(work: Work): void {
    const response = this.#response;
    this.#say();
    if (!response.hasHeader("X-ClickHouse-Summary")) this.#summarize(work);
    if (!this.#relayed) this.#tag = this.#newTag();
    if (this.#tag !== undefined) response.setHeader("X-ClickHouse-Exception-Tag", this.#tag);
    this.#nameEncoding();
    // A client may not have sent all of its rows, and can not begin another request behind them.
    if (!this.#request.complete) response.setHeader("Connection", "close");
  }

  #nameEncoding(): void {
    const encoding = this.#packing?.encoding;
    if (encoding !== undefined) this.#response.setHeader("Content-Encoding", encoding);
  }

  async #sendPacked(packing: Packing, rows: Uint8Array, work: Work): Promise<void> {
    const packed = await packing.whole(rows);
    this.#say();
    this.#nameEncoding();
    this.#sendWhole(packed, work);
  }

  #sendWhole(body: Uint8Array, work: Work): void {
    if (this.#sendsAtOnce(body, work)) return;
    this.#say();
    if (!this.#response.hasHeader("X-ClickHouse-Summary")) this.#summarize(work);
    this.#response.setHeader("Content-Length", body.length);
    this.#finish(body);
  }

  /** Bytes of an engine, to a client whose request was read whole: what a head says of them is known in one go. */
  #sendsAtOnce(body: Uint8Array, work: Work): boolean {
    const response = this.#response;
    const passed = this.#passed;
    if (passed === undefined || body.length > turnBytesMax) return false;
    if (!(response instanceof PlainResponse) || !response.isFresh) return false;
    const lines = headLines(this.#queryId, passed, body.length, work);
    this.#letGo();
    turnWrites.later(() => response.endWith(lines, body));
    return true;
  }

  #send(bytes: Uint8Array): Promise<void> | undefined {
    const response = this.#response;
    if (this.#packing !== undefined) return this.#packing.write(bytes, response);
    // An engine reads into it again.
    return response.write(bytes, () => giveBack(bytes)) ? undefined : drained(response);
  }

  /** What of the request nobody read is thrown away, and the connection with it. */
  #finish(body?: Uint8Array): void {
    const response = this.#response;
    if (!this.#request.complete) {
      if (!response.headersSent) response.setHeader("Connection", "close");
      this.#request.resume();
    }
    this.#letGo();
    if (body === undefined) response.end();
    else if (body.length > turnBytesMax) response.end(body);
    else turnWrites.later(() => response.end(body));
  }

  /** Without its last chunk no reader takes the answer for a whole one. */
  async #break(text: Uint8Array): Promise<void> {
    const response = this.#response;
    const { socket } = response;
    if (text.length > 0) await this.#send(text);
    await this.#packing?.flush(response);
    response.write(lastWords, () => socket?.destroySoon());
  }
}

/** Nothing: only to learn when what stands before it is out. */
const lastWords = new Uint8Array(0);

function tooMuchHeld(): GatewayError {
  const message = `the result is larger than the ${wholeBytesMax} bytes that wait_end_of_query holds`;
  return gatewayError("engine.resources", { message });
}
