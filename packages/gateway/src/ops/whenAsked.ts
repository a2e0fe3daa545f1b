/** Makes something with the first question for it and keeps it. A failure is answered and forgotten: the next one tries again. */
export function whenAsked<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    if (made !== undefined) return made;
    const making = make();
    made = making;
    making.catch(() => {
      made = undefined;
    });
    return making;
  };
}
