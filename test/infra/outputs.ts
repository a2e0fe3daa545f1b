/**
 * Values that a deployment knows only later, as far as `infra/` uses them. Here each is known at once:
 * what a resource would answer is a word that says what was asked.
 */

export interface Output {
  readonly value: unknown;
  /** Whether it is a secret, or was made of one. */
  readonly isSecret: boolean;
  apply(change: (value: unknown) => unknown): Output;
}

const outputs = new WeakSet<object>();

/** True for what the functions below answer. */
export function isOutput(value: unknown): value is Output {
  return typeof value === "object" && value !== null && outputs.has(value);
}

export function outputOf(value: unknown, { secret = false } = {}): Output {
  if (isOutput(value)) return value;
  return placed({
    value,
    isSecret: secret,
    apply: (change) => {
      const changed = outputOf(change(value));
      return outputOf(changed.value, { secret: secret || changed.isSecret });
    },
  });
}

/** One of many. */
export function allOf(items: readonly unknown[]): Output {
  const known = items.map((item) => outputOf(item));
  return outputOf(
    known.map(({ value }) => value),
    { secret: known.some(({ isSecret }) => isSecret) },
  );
}

/** A resource, and whatever is asked of it: `attributeOf("Network").nodes.vpc.cidrBlock`. */
export function attributeOf(path: string): Output {
  const last = path.split(".").at(-1) ?? "";
  const known = answers[last];
  const own = outputOf(known === undefined ? `<${path}>` : known(path));
  return placed(
    new Proxy(own, {
      get: (target, name) =>
        name in target || typeof name === "symbol" || name === "then"
          ? Reflect.get(target, name)
          : attributeOf(`${path}.${name}`),
    }),
  );
}

/** What has to look like the real thing, because a config holds it. */
const answers: Readonly<Record<string, (path: string) => string>> = {
  cidrBlock: () => "10.0.0.0/16",
  url: (path) => `https://${path.split(".")[0]?.toLowerCase()}.example`,
};

function placed(output: Output): Output {
  outputs.add(output);
  return output;
}

/** For `JSON.stringify`: outputs as what they hold. */
export function shown(_key: string, value: unknown): unknown {
  return isShown(value) ? outputOf(value).value : value;
}

function isShown(value: unknown): boolean {
  return typeof value === "object" && value !== null && "isSecret" in value;
}
