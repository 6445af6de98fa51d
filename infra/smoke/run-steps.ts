/** How it went, for people, or why there was nothing to look at. */
type Outcome = string | { notRun: string };

export interface Step<Context> {
  name: string;
  /** Steps that must have gone well before; those of a step that was skipped count as not. */
  needs: readonly string[];
  run: (context: Context) => Outcome | Promise<Outcome>;
}

interface Failure {
  tried: string;
  came: string;
  /** What an operator can do. */
  remedy: string;
}

/** A step that did not do what it should. */
export class SmokeFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(`${failure.tried}: ${failure.came}. ${failure.remedy}`);
    this.name = 'SmokeFailure';
    this.failure = failure;
  }
}

export interface StepResult extends Partial<Failure> {
  name: string;
  outcome: 'ok' | 'failed' | 'skipped';
  durationMs: number;
  /** How it went; of a skipped step: why it did not run. */
  note?: string;
}

async function runStep<Context>(
  { name, run }: Step<Context>,
  context: Context,
): Promise<StepResult> {
  const startedAt = performance.now();
  const took = () => ({ name, durationMs: Math.round(performance.now() - startedAt) });
  try {
    const result = await run(context);
    return typeof result === 'string'
      ? { ...took(), outcome: 'ok', note: result }
      : { ...took(), outcome: 'skipped', note: result.notRun };
  } catch (error) {
    const remedy = 'This is a defect of the check itself.';
    const failure =
      error instanceof SmokeFailure ? error.failure : { tried: name, came: String(error), remedy };
    return { ...took(), outcome: 'failed', ...failure };
  }
}

/** Runs the steps one after another and tells of each as it ends; what needs a failed one is skipped. */
export async function runSteps<Context>(
  steps: readonly Step<Context>[],
  context: Context,
  tell: (result: StepResult) => void,
): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (const step of steps) {
    const lacking = step.needs.filter(
      (need) => results.find(({ name }) => name === need)?.outcome !== 'ok',
    );
    const result: StepResult =
      lacking.length === 0
        ? await runStep(step, context)
        : {
            name: step.name,
            outcome: 'skipped',
            durationMs: 0,
            note: `needs ${lacking.join(' and ')}`,
          };
    results.push(result);
    tell(result);
  }
  return results;
}

const NAME_WIDTH = 12;

/** One line for a result. */
export function stepLine(result: StepResult): string {
  const { name, outcome, durationMs, note, tried, came, remedy } = result;
  if (outcome === 'skipped') return `skipped  ${name.padEnd(NAME_WIDTH)} ${note}`;
  if (outcome === 'failed') return `FAILED ${name}: ${tried}: ${came}. ${remedy}`;
  return `ok  ${name.padEnd(NAME_WIDTH)} ${durationMs} ms  ${note}`;
}
