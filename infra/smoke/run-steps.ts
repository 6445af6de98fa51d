/** What a step that could not look has to say. */
interface NotRun {
  notRun: string;
}

export interface Step<Context> {
  name: string;
  /** Steps that must have gone well before; those of a step that was skipped count as not. */
  needs: readonly string[];
  /** A word about how it went, for people, or why there was nothing to look at; undefined: nothing to say. */
  run: (context: Context) => Promise<string | NotRun | undefined>;
}

/** A step that did not do what it should: what was tried, what came, and what an operator can do. */
export class SmokeFailure extends Error {
  readonly tried: string;
  readonly came: string;
  readonly remedy: string;

  constructor(failure: { tried: string; came: string; remedy: string }) {
    super(`${failure.tried}: ${failure.came}. ${failure.remedy}`);
    this.name = 'SmokeFailure';
    this.tried = failure.tried;
    this.came = failure.came;
    this.remedy = failure.remedy;
  }
}

export interface StepResult {
  name: string;
  outcome: 'ok' | 'failed' | 'skipped';
  durationMs: number;
  /** How it went; of a skipped step: why it did not run. */
  note?: string;
  /** Of a failure. */
  tried?: string;
  came?: string;
  remedy?: string;
}

async function runStep<Context>(step: Step<Context>, context: Context): Promise<StepResult> {
  const startedAt = performance.now();
  const took = () => Math.round(performance.now() - startedAt);
  try {
    const said = await step.run(context);
    const { name } = step;
    if (typeof said === 'object')
      return { name, outcome: 'skipped', durationMs: took(), note: said.notRun };
    const note = said === undefined ? {} : { note: said };
    return { name, outcome: 'ok', durationMs: took(), ...note };
  } catch (error) {
    const { tried, came, remedy } =
      error instanceof SmokeFailure
        ? error
        : {
            tried: step.name,
            came: String(error),
            remedy: 'This is a defect of the check itself.',
          };
    return { name: step.name, outcome: 'failed', durationMs: took(), tried, came, remedy };
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
export function stepLine({
  name,
  outcome,
  durationMs,
  note,
  tried,
  came,
  remedy,
}: StepResult): string {
  if (outcome === 'skipped') return `skipped  ${name.padEnd(NAME_WIDTH)} ${note}`;
  if (outcome === 'failed') return `FAILED ${name}: ${tried}: ${came}. ${remedy}`;
  const took = `${durationMs} ms`;
  return `ok  ${name.padEnd(NAME_WIDTH)} ${took}${note === undefined ? '' : `  ${note}`}`;
}
