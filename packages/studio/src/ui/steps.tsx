/** Decisions in their order, as an explanation reads. */

export interface Step {
  readonly step: string;
  readonly outcome: string;
}

export function Steps({ steps }: { readonly steps: readonly Step[] }) {
  return (
    <ol className="steps">
      {steps.map(({ step, outcome }, at) => (
        // A step may come twice with one outcome; its place is its name.
        <li key={at}>
          <span className="step-name">{step}</span>
          <div className="wrap">{outcome}</div>
        </li>
      ))}
    </ol>
  );
}
