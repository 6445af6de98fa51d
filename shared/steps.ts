/** What work that is done in steps comes to, without a pause between them. */
export function withoutPause<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
