/** Medians and spreads, written the same way everywhere. */
export function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export function median(values) {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

/** `median (lowest … highest)`, with `digits` behind the point. */
export function spread(values, digits) {
  const sorted = values.toSorted((a, b) => a - b);
  const shown = (value) => value.toFixed(digits);
  return `${shown(median(values))} (${shown(sorted[0])} … ${shown(sorted.at(-1))})`;
}
