import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { Write } from '#shared/ports/ports.ts';
import {
  buildConversation,
  type ConversationToBuild,
} from '#test/support/compaction/conversation-builder.ts';
import { answerText, PIN, questionText } from './scripted-models.ts';

/** The one conversation of every program. */
export const CONVERSATION = '11111111-1111-4111-8111-111111111111';
/** Its fork, if a program makes one. */
export const FORK = '22222222-2222-4222-8222-222222222222';
/** Of another user. */
export const STRANGE = '33333333-3333-4333-8333-333333333333';

/** What stands in the store before a program runs. */
export interface InitialState {
  text: string;
  /** Which marks the turns bear, in order. */
  marks: readonly string[];
  writes: readonly Write[];
}

export const BEFORE = new Date('2026-01-02T03:00:00.000Z');
const MARKS = ['first', 'second', 'third', 'fourth', 'fifth'];

/** The writes that build a conversation: by default the one of every program. */
export async function writesOf(options: ConversationToBuild): Promise<Write[]> {
  const writes: Write[] = [];
  const sink = {
    commit: (batch: readonly Write[]) => {
      writes.push(...batch);
      return Promise.resolve([]);
    },
  };
  await buildConversation(sink, { conversationId: CONVERSATION, now: BEFORE, ...options });
  return writes;
}

/** Turns that bear marks: where they stand in the context is checked. About 93 tokens each. */
export const markedTurns = (marks: readonly string[]) =>
  marks.map((mark) => ({ user: questionText(mark), answer: answerText(mark) }));

async function built(text: string, marks: readonly string[], changed: Partial<Conversation>) {
  const pins = [{ id: 'pin', text: PIN, source: 'api' as const }];
  const conversation = { epoch: 'epoch', pins, ...changed };
  const writes = await writesOf({ turns: markedTurns(marks), conversation });
  return { text, marks, writes } satisfies InitialState;
}

export const autoRequest = {
  auto: { requestId: 'before', since: BEFORE, trigger: 'auto' as const },
};

/** The places in a conversation's life where something can go wrong: short, so that runs are fast. */
export const initialStates: readonly InitialState[] = await Promise.all([
  built('five turns over the threshold, a compaction is due', MARKS, {
    settings: { thresholdTokens: 400 },
    compactionRequests: autoRequest,
  }),
  built('four turns, the next one crosses the threshold', MARKS.slice(0, 4), {
    settings: { thresholdTokens: 420 },
  }),
  built('two turns, far below the threshold', MARKS.slice(0, 2), {}),
  built('two turns and an app that runs functions, the next turn crosses', MARKS.slice(0, 2), {
    settings: { thresholdTokens: 310 },
    toolsJson: JSON.stringify(
      ['locate', 'choose'].map((name) => ({ name, parameters: { type: 'object' } })),
    ),
  }),
  Promise.resolve<InitialState>({ text: 'no conversation', marks: [], writes: [] }),
]);
