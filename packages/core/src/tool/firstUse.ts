/** Values by name, each made on first use, so that loading a large configuration costs little. */

/** `get` makes the value of a known name once; `made` returns those that were made so far. */
export interface FirstUse<Value> {
  get(name: string): Value | undefined;
  made(): Iterable<Value>;
}

export function onFirstUse<Source, Value>(
  known: Readonly<Record<string, Source>>,
  make: (name: string, source: Source) => Value,
): FirstUse<Value> {
  const values = new Map<string, Value>();
  // A query asks for its own several times, and so does the next one.
  let lastName: string | undefined;
  let last: Value | undefined;
  const present = (name: string): Value | undefined => {
    if (name === lastName) return last;
    const value = values.get(name);
    if (value === undefined) return undefined;
    lastName = name;
    last = value;
    return value;
  };
  return {
    get: (name) => {
      const value = present(name);
      if (value !== undefined) return value;
      // Names come from clients too, and every object has a `constructor`.
      const source = Object.hasOwn(known, name) ? known[name] : undefined;
      if (source === undefined) return undefined;
      const fresh = make(keyOf(name), source);
      values.set(name, fresh);
      return fresh;
    },
    made: () => values.values(),
  };
}

/**
 * The same text as objects have it for a key. A text that was asked of an object once is a detour to that: each
 * comparison of the two is a call of the runtime.
 */
function keyOf(name: string): string {
  return Object.keys({ [name]: true })[0] ?? name;
}
