/** One call of the model in a conversation. */
export interface Step {
  /** What is new in front of it: a message, or outputs of tools. */
  inputTokens: number;
  outputTokens: number;
  isTurnStart: boolean;
  isTurnEnd: boolean;
}

export interface Conversation {
  steps: readonly Step[];
  turns: number;
  /** System instruction and tools. */
  overheadTokens: number;
  /** Share of prompts that find the beginning of the prompt before in the cache, 0 to 1. */
  hitFraction: number;
}

/** The steps of so many turns, which are repeated as often as that takes; each turn: said, answered, said, … */
export function listSteps(turns: readonly (readonly number[])[], count: number): Step[] {
  if (turns.length === 0) throw new RangeError('a conversation needs the sizes of a turn');
  return Array.from({ length: count }, (_, index) => turns[index % turns.length] ?? []).flatMap(
    (sizes) =>
      Array.from({ length: Math.floor(sizes.length / 2) }, (_, step) => ({
        inputTokens: sizes[2 * step] ?? 0,
        outputTokens: sizes[2 * step + 1] ?? 0,
        isTurnStart: step === 0,
        isTurnEnd: 2 * step + 2 >= sizes.length - 1,
      })),
  );
}

const stepTokens = ({ inputTokens, outputTokens }: Step): number => inputTokens + outputTokens;

/** `sums[n]` are the tokens of the first n steps. */
export function sumSteps(steps: readonly Step[]): number[] {
  const sums = [0];
  for (const step of steps) sums.push((sums.at(-1) ?? 0) + stepTokens(step));
  return sums;
}

/** Where a tail of at most so many tokens begins after the first `end` steps; one step always stays. */
export function findTailStart(sums: readonly number[], end: number, tailTokens: number): number {
  let start = Math.max(0, end - 1);
  while (start > 0 && (sums[end] ?? 0) - (sums[start - 1] ?? 0) <= tailTokens) start -= 1;
  return start;
}
