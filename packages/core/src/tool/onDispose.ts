/**
 * Something to be disposed that costs next to nothing to make.
 *
 * A class, because V8 makes an object literal with a computed key in its runtime: it names the function after the key,
 * which took ten times as long, for several of them in each query.
 */
export function onDispose(end: () => void): Disposable {
  return new Ending(end);
}

/** `end` is called once, however often it is disposed. */
class Ending implements Disposable {
  #end: (() => void) | undefined;

  constructor(end: () => void) {
    this.#end = end;
  }

  [Symbol.dispose](): void {
    const end = this.#end;
    this.#end = undefined;
    end?.();
  }
}
