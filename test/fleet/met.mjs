/**
 * Which pairs of faults were met, how often, and by which seed last: kept beside this file over nights. Where nobody keeps
 * it each night begins with what is committed, and takes those that it has seen least in an order by chance.
 */
import { readFile, writeFile } from "node:fs/promises";

const file = new URL("met.json", import.meta.url);

export class Met {
  #pairs;
  /** By name: `{times, seed, date}` of the pairs that were met. */
  #table;

  constructor(pairs, table) {
    this.#pairs = pairs;
    this.#table = table;
  }

  static async read(pairs) {
    return new Met(pairs, JSON.parse(await readFile(file, "utf8")));
  }

  /** One of the pairs that were met least, and which of its faults begins. */
  least(chance) {
    const fewest = Math.min(...this.#pairs.map((pair) => this.#times(pair)));
    const [pair] = chance.shuffled(this.#pairs.filter((one) => this.#times(one) === fewest));
    return chance.shuffled(pair);
  }

  /** It was met, and everything held. Written at once: a night that is cut leaves what it did. */
  async add(pair, seed) {
    const name = this.#nameOf(pair);
    if (name === undefined) return;
    const date = new Date().toISOString().slice(0, 10);
    this.#table[name] = { times: this.#times(pair) + 1, seed, first: pair[0], date };
    const sorted = this.#pairs
      .map((one) => one.join("+"))
      .filter((one) => this.#table[one] !== undefined)
      .map((one) => [one, this.#table[one]]);
    await writeFile(file, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
  }

  text() {
    const left = this.#pairs
      .filter((pair) => this.#times(pair) === 0)
      .map((pair) => pair.join("+"));
    const all = this.#pairs.length;
    const rest = left.length === 0 ? "" : `; not yet ${left.join(", ")}`;
    return `over all nights ${all - left.length} of ${all} pairs that can meet were met${rest}`;
  }

  #times(pair) {
    return this.#table[this.#nameOf(pair)]?.times ?? 0;
  }

  #nameOf(pair) {
    return this.#pairs.find((one) => one.every((fault) => pair.includes(fault)))?.join("+");
  }
}
