/** Values by name that are made when they are first asked for, so that a large configuration costs little to take up. */

/** `known` says which names there are; each is made once. Answers those that were made so far as `made`. */
export interface FirstUse<Value> {
  get(name: string): Value | undefined;
  made(): Iterable<Value>;
}

export function onFirstUse<Source, Value>(
  known: Readonly<Record<string, Source>>,
  make: (name: string, source: Source) => Value,
): FirstUse<Value> {
  const values = new Map<string, Value>();
  return {
    get: (name) => {
      const value = values.get(name);
      if (value !== undefined) return value;
      // Names come from clients too, and every object knows `constructor`.
      const source = Object.hasOwn(known, name) ? known[name] : undefined;
      if (source === undefined) return undefined;
      const fresh = make(name, source);
      values.set(name, fresh);
      return fresh;
    },
    made: () => values.values(),
  };
}
