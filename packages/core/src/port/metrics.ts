/**
 * Counters, gauges and histograms by handle. A handle is made once per set of label values, so that
 * counting on the way of a query costs no lookup. No identity, SQL or token is ever a label value.
 */
export interface MetricFamily<Label extends string> {
  readonly name: `gateway_${string}`;
  readonly help: string;
  readonly labels: readonly Label[];
}

export interface Counter {
  add(count: number): void;
}
export interface Gauge {
  set(value: number): void;
  add(delta: number): void;
}
export interface Histogram {
  observe(value: number): void;
}

export type LabelValues<Label extends string> = Readonly<Record<Label, string>>;

/** The same family and values always answer the same underlying series. */
export interface Metrics {
  counter<L extends string>(family: MetricFamily<L>, values: LabelValues<L>): Counter;
  gauge<L extends string>(family: MetricFamily<L>, values: LabelValues<L>): Gauge;
  histogram<L extends string>(
    family: MetricFamily<L> & { readonly buckets: readonly number[] },
    values: LabelValues<L>,
  ): Histogram;
}
