import type { Recording } from '#lab/eval/replay/recording.ts';
import { turnsOf, type RecordedTurn } from '#lab/eval/run/eval-turns.ts';
import { resolvePolicy, type CompactionPolicy } from '#shared/compaction/policy.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import type { Summariser } from './folds/call-cost.ts';
import { listSteps, type Conversation } from './folds/conversation.ts';
import { ledgerSummariser } from './summarisers.ts';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Sizes of a conversation, tokens by the rule `character-class`. */
const sizesSchema = z.strictObject({
  profile: z.enum(['assistant', 'coding']),
  /** Of each turn: said to the model, answered by it, and so on. */
  turns: z.array(z.array(z.number().int().nonnegative()).min(2)).min(1),
});

/** What kind of conversation it is. */
export interface Shape extends z.infer<typeof sizesSchema> {
  name: string;
  /** The turns are repeated until there are so many. */
  turnCount: number;
}

const recorded = ['coding', 'long-answers'] as const;

/** Throws Error where the file does not hold sizes. */
const readSizes = (name: (typeof recorded)[number]) =>
  sizesSchema.parse(
    JSON.parse(readFileSync(new URL(`conversations/${name}.json`, import.meta.url), 'utf8')),
  );

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
    ...recorded.map((name) => {
      const sizes = readSizes(name);
      const count = Math.max(1, Math.round(total / meanTokens(sizes.turns)));
      return { name, ...sizes, turnCount: count };
    }),
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

/** A shape as the service treats it by default. */
export interface Setup {
  conversation: Conversation;
  policy: CompactionPolicy;
  summariser: Summariser;
}

export function setUp(
  { turns, turnCount, profile }: Shape,
  model: string,
  {
    instructionTokens,
    ...rest
  }: Pick<Conversation, 'overheadTokens' | 'hitFraction'> & { instructionTokens: number },
): Setup {
  const policy = resolvePolicy({ model, profile });
  return {
    conversation: { steps: listSteps(turns, turnCount), turns: turnCount, ...rest },
    policy,
    summariser: ledgerSummariser(policy, instructionTokens),
  };
}
