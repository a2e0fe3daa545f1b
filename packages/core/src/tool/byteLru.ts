/** Values by text, at most so many bytes of them; the one that was asked for longest ago goes first. */
import { Aged } from "./aged.ts";

interface Kept<Value> {
  readonly value: Value;
  readonly bytes: number;
}

export class ByteLru<Value> {
  readonly #bytesMax: number;
  readonly #kept = new Aged<string, Kept<Value>>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** What they count together. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Value | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#kept.put(key, kept);
    return kept.value;
  }

  /** `bytes` of key and value together. One that is larger than all may be is not kept. */
  put(key: string, value: Value, bytes: number): void {
    if (bytes > this.#bytesMax) return;
    this.#bytes += bytes - (this.#kept.get(key)?.bytes ?? 0);
    this.#kept.put(key, { value, bytes });
    while (this.#bytes > this.#bytesMax) this.#dropOldest();
  }

  #dropOldest(): void {
    const { oldest } = this.#kept;
    if (oldest === undefined) return;
    const [key, { bytes }] = oldest;
    this.#kept.delete(key);
    this.#bytes -= bytes;
  }
}
