/**
 * Who has a lane, and who comes behind on it: statements of one series that are sent before the answers to those before
 * them. They are sent in the order in which they came, and each is on its own once all before it are over.
 */
import type { GatewayError } from "../../error.ts";

/** What a place is taken for. */
export interface Occupant {
  /** Ends the statement, because the lane has to end. */
  readonly cancel: (reason: GatewayError) => void;
  /** Called once, when nobody is before it. */
  readonly first?: () => void;
}

export class Places {
  #places: Place[] = [];

  get taken(): boolean {
    return this.#places.length > 0;
  }

  /** Takes the last place. */
  join(occupant: Occupant): Place {
    const place = new Place(occupant, this);
    this.#places.push(place);
    if (this.#places.length === 1) place.becameFirst();
    return place;
  }

  leave(place: Place): void {
    const at = this.#places.indexOf(place);
    if (at < 0) return;
    this.#places.splice(at, 1);
    const behind = this.#places[at];
    if (at === 0) behind?.becameFirst();
    behind?.look();
  }

  cancel(reason: GatewayError): void {
    for (const { occupant } of this.#places.slice()) occupant.cancel(reason);
  }

  before(place: Place): Place | undefined {
    return this.#places[this.#places.indexOf(place) - 1];
  }

  behind(place: Place): Place | undefined {
    return this.#places[this.#places.indexOf(place) + 1];
  }
}

export class Place {
  readonly occupant: Occupant;
  readonly #places: Places;
  #sent = false;
  #wake: (() => void) | undefined;

  constructor(occupant: Occupant, places: Places) {
    this.occupant = occupant;
    this.#places = places;
  }

  get isSent(): boolean {
    return this.#sent;
  }

  /** The statement was given to the lane: the next may be. */
  sent(): void {
    if (this.#sent) return;
    this.#sent = true;
    this.#places.behind(this)?.look();
  }

  /** Waits until those before it were given to the lane, or are over. Undefined where they were. */
  toSend(): Promise<void> | undefined {
    return this.#until(() => this.#places.before(this)?.isSent ?? true);
  }

  /** Waits until those before it are over. Undefined where they are. */
  alone(): Promise<void> | undefined {
    return this.#until(() => this.#places.before(this) === undefined);
  }

  /** Somebody before it went on. */
  look(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  becameFirst(): void {
    this.occupant.first?.();
  }

  #until(holds: () => boolean): Promise<void> | undefined {
    return holds() ? undefined : this.#waited(holds);
  }

  async #waited(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
