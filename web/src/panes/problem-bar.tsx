import type { Signal } from '@preact/signals';
import type { ApiError } from '../api/api-error.ts';
import type { App } from '../state/app.ts';

/** What did not work, until it is dismissed. */
export function ProblemBar({ app, problem }: { app: App; problem: Signal<ApiError | undefined> }) {
  const { problems } = app.texts.value;
  const found = problem.value;
  if (!found) return null;
  return (
    <p class="problem" role="alert">
      <span>{found.code === 0 ? problems.offline : problems.generic(found.message)}</span>
      <button type="button" class="link" onClick={() => (problem.value = undefined)}>
        {problems.dismiss}
      </button>
    </p>
  );
}
