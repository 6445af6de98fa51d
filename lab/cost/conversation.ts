import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Recording } from '#lab/eval/replay/recording.ts';
import { turnsOf, type RecordedTurn } from '#lab/eval/compact/recorded-turns.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';

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

/** Sizes of a conversation, tokens by the rule `character-class`. */
const sizesSchema = z.strictObject({
  name: z.string(),
  profile: z.enum(['assistant', 'coding']),
  /** Of each turn: said to the model, answered by it, and so on. */
  turns: z.array(z.array(z.number().int().nonnegative()).min(2)).min(1),
});

/** What kind of conversation it is. */
export interface Shape extends z.infer<typeof sizesSchema> {
  /** The turns are repeated until there are so many. */
  turnCount: number;
}

/** The sizes of recorded conversations, one a line. Throws Error for a line that holds none. */
const readSizes = () =>
  readFileSync(new URL('conversations.jsonl', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => sizesSchema.parse(JSON.parse(line)));

const meanTokens = (turns: Shape['turns']): number =>
  turns.flat().reduce((sum, tokens) => sum + tokens, 0) / turns.length;

/** A chat of even turns, and two recorded conversations, each until about as much was said in it. */
export function readShapes(chat: {
  messageTokens: number;
  answerTokens: number;
  turnCount: number;
}): Shape[] {
  const { messageTokens, answerTokens, turnCount } = chat;
  const turns = [[messageTokens, answerTokens]];
  const total = turnCount * meanTokens(turns);
  return [
    { name: 'chat', profile: 'assistant', turns, turnCount },
    ...readSizes().map((sizes) => ({
      ...sizes,
      turnCount: Math.max(1, Math.round(total / meanTokens(sizes.turns))),
    })),
  ];
}

/** Neighbours of one role count together; an answer stands at the end. */
function turnSizes({ user, contents }: RecordedTurn): number[] {
  const sizes: number[] = [];
  for (const content of [user, ...contents]) {
    const isAnswer = content.role === 'model';
    const place = sizes.length % 2 === (isAnswer ? 1 : 0) ? sizes.length : sizes.length - 1;
    sizes[place] =
      (sizes[place] ?? 0) + Math.round(estimateContentTokens(content, 'character-class'));
  }
  return sizes.length % 2 === 0 ? sizes : [...sizes, 0];
}

/** Recorded conversations as they are. */
export const recordedShapes = (
  recordings: readonly Recording[],
  profile: Shape['profile'],
): Shape[] =>
  recordings.map((recording) => {
    const turns = turnsOf(recording).map(turnSizes);
    return { name: recording.id, profile, turns, turnCount: turns.length };
  });
