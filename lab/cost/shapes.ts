import { resolvePolicy, type CompactionPolicy } from '#shared/compaction/policy/policy.ts';
import type { Summariser } from './folds/call-cost.ts';
import { listSteps, type Conversation } from './folds/conversation.ts';
import { countedNames, readCounted, type CountedFile } from './counted/counted-file.ts';
import { meanSummariser } from './counted/summarisers.ts';

/** What kind of conversation it is, and what compacting it takes. */
export interface Shape {
  name: string;
  turns: readonly (readonly number[])[];
  turnCount: number;
  counted: CountedFile;
}

/** Compactions of the chat that has the sizes of the command line; it is in the repository with its answers. */
const CHAT_COUNT = 'own';

const meanTokens = (turns: Shape['turns']): number =>
  turns.flat().reduce((sum, tokens) => sum + tokens, 0) / turns.length;

/** The chat, and every other conversation that was counted, each until about as much was said in it. */
export function readShapes(chat: {
  messageTokens: number;
  answerTokens: number;
  turnCount: number;
}): Shape[] {
  const turns = [[chat.messageTokens, chat.answerTokens]];
  const first = {
    name: 'chat',
    turns,
    turnCount: chat.turnCount,
    counted: readCounted(CHAT_COUNT),
  };
  const total = chat.turnCount * meanTokens(turns);
  const others = countedNames()
    .filter((name) => name !== CHAT_COUNT)
    .map((name) => {
      const counted = readCounted(name);
      const turnCount = Math.max(1, Math.round(total / meanTokens(counted.turns)));
      return { name, turns: counted.turns, turnCount, counted };
    });
  return [first, ...others];
}

/** A shape as the service treats it by default. */
export interface Setup {
  conversation: Conversation;
  policy: CompactionPolicy;
  summariser: Summariser;
}

/** With the threshold of the default or another one, which tail and snapshot follow. */
export function setUp(
  { turns, turnCount, counted }: Shape,
  model: string,
  {
    thresholdTokens,
    ...rest
  }: Pick<Conversation, 'overheadTokens' | 'hitFraction'> & {
    thresholdTokens?: number;
  },
): Setup {
  const policy = resolvePolicy({
    model,
    profile: counted.profile,
    ...(thresholdTokens !== undefined && { conversation: { thresholdTokens } }),
  });
  return {
    conversation: { steps: listSteps(turns, turnCount), turns: turnCount, ...rest },
    policy,
    summariser: meanSummariser(counted.compactions, policy),
  };
}
