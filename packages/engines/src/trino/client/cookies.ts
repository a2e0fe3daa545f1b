/** Cookies of one query, by which a proxy before several coordinators finds its way back. Never shared between queries. */
import type { HttpHeaders } from "./http.ts";
import { cookieBytesMax, cookiesMax } from "../limits.ts";

export class Cookies {
  readonly #values = new Map<string, string>();

  /** The header's value to send; empty when there is none. */
  get text(): string {
    return Array.from(this.#values, ([name, value]) => `${name}=${value}`).join("; ");
  }

  /** Keeps what an answer sets; what is too much is left out. */
  take(headers: HttpHeaders): void {
    const set = headers["set-cookie"];
    if (set === undefined) return;
    for (const cookie of typeof set === "string" ? [set] : set) {
      const [pair = ""] = cookie.split(";", 1);
      const mark = pair.indexOf("=");
      const name = pair.slice(0, mark).trim();
      const room = this.#values.has(name) || this.#values.size < cookiesMax;
      if (mark <= 0 || pair.length > cookieBytesMax || !room) continue;
      this.#values.set(name, pair.slice(mark + 1).trim());
    }
  }
}
