import type { CompactionView } from './chat-client.ts';
import { type Spread, spread } from './percentiles.ts';
import type { ReplayedConversation } from './replay-conversation.ts';
import type { Sent } from './send-with-retries.ts';

const swapped = new Set(['COMPACTED', 'CONTENT_TRUNCATED']);

export interface ConversationFigures {
  id: string;
  conversationId: string;
  sent: number;
  compactions: {
    generation: number | null;
    state: string;
    trigger: string;
    beforeTokens: number;
    afterTokens: number;
    turnsFolded: number;
    modelCalls: number;
    durationMs: number;
  }[];
  sends: Spread;
  sendsDuringCompaction: Spread;
  sendsOutsideCompaction: Spread;
  retries: number;
  /** Tokens of the first prompt that was built on the newest generation; null when none followed. */
  promptTokensAfterLastSwap: number | null;
  thresholdTokens: number | null;
}

export interface ReplayFigures {
  missing: number;
  outOfOrder: number;
  altered: number;
  unexpected: number;
  failed: number;
  sends: Spread;
  sendsDuringCompaction: Spread;
  sendsOutsideCompaction: Spread;
  conversations: ConversationFigures[];
}

/** Whether a compaction of the conversation was queued or running when the message was sent. */
export function isDuringCompaction(
  sent: Pick<Sent, 'sentAt'>,
  compactions: readonly Pick<CompactionView, 'requestedAt' | 'finishedAt'>[],
): boolean {
  return compactions.some(
    ({ requestedAt, finishedAt }) =>
      sent.sentAt >= requestedAt && (!finishedAt || sent.sentAt <= finishedAt),
  );
}

const spreadOf = (sends: readonly Sent[]): Spread => spread(sends.map((sent) => sent.durationMs));

function promptAfterLastSwap(replayed: ReplayedConversation): number | null {
  const generations = replayed.compactions.filter(({ state }) => swapped.has(state));
  const newest = generations.at(-1)?.generation ?? undefined;
  if (newest === undefined) return null;
  const first = replayed.sends.find(({ answer }) => answer.generation === newest);
  return first?.answer.usage?.promptTokens ?? null;
}

function figuresOf(replayed: ReplayedConversation): ConversationFigures {
  const { conversation, sends, compactions } = replayed;
  const during = sends.filter((sent) => isDuringCompaction(sent, compactions));
  const outside = sends.filter((sent) => !isDuringCompaction(sent, compactions));
  return {
    id: conversation.recordingId,
    conversationId: conversation.conversationId,
    sent: sends.length,
    compactions: compactions.map((compaction) => ({
      generation: compaction.generation ?? null,
      state: compaction.state,
      trigger: compaction.trigger,
      beforeTokens: compaction.beforeTokens ?? 0,
      afterTokens: compaction.afterTokens ?? 0,
      turnsFolded: compaction.turnsFolded ?? 0,
      modelCalls: compaction.calls ?? 0,
      durationMs: compaction.durationMs ?? 0,
    })),
    sends: spreadOf(sends),
    sendsDuringCompaction: spreadOf(during),
    sendsOutsideCompaction: spreadOf(outside),
    retries: sends.reduce((sum, sent) => sum + sent.retries, 0),
    promptTokensAfterLastSwap: promptAfterLastSwap(replayed),
    thresholdTokens: sends.at(-1)?.answer.context?.thresholdTokens ?? null,
  };
}

/** The figures of a whole replay, as `--json` writes them. */
export function replayFigures(replayed: readonly ReplayedConversation[]): ReplayFigures {
  const problems = replayed.flatMap((each) => each.problems);
  const count = (...kinds: string[]): number =>
    problems.filter(({ kind }) => kinds.includes(kind)).length;
  const sends = (isDuring?: boolean): Sent[] =>
    replayed.flatMap((each) =>
      each.sends.filter(
        (sent) => isDuring === undefined || isDuringCompaction(sent, each.compactions) === isDuring,
      ),
    );
  return {
    missing: count('missing'),
    outOfOrder: count('out-of-order'),
    altered: count('altered'),
    unexpected: count('unexpected', 'twice'),
    failed: replayed.filter(({ failure }) => failure !== undefined).length,
    sends: spreadOf(sends()),
    sendsDuringCompaction: spreadOf(sends(true)),
    sendsOutsideCompaction: spreadOf(sends(false)),
    conversations: replayed.map(figuresOf),
  };
}

/** Everything that was sent and received stands in the transcript. */
export function isComplete(figures: ReplayFigures): boolean {
  const { missing, outOfOrder, altered, unexpected, failed } = figures;
  return missing + outOfOrder + altered + unexpected + failed === 0;
}
