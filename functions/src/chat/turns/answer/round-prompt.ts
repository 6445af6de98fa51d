import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import type { SentView } from '#shared/compaction/shrunken-view.ts';
import { assemblePrompt } from '#shared/conversation/context/assemble-context.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { ModelUsage, Prompt } from '#shared/ports/ports.ts';
import { meterCounting, conversationPolicy } from '#functions/config/conversation-policy.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { BegunTurn } from '../start/begun-turn.ts';
import { viewOfRound } from '../start/next-call.ts';
import { refuseRoundOverflow } from '../start/overflow.ts';
import { usageBeyond } from './add-usage.ts';
import type { TurnProgress } from '../store/turn-progress.ts';

/** The prompt of a call between two rounds. */
export interface RoundPrompt {
  prompt: Prompt;
  sent: SentView;
}

/** What the last call reported of `contents` contents; absent: nothing, or not of all that was there. */
export interface CallReport {
  usage: ModelUsage;
  contents: number;
  outputTokens: number;
}

interface Round {
  begun: BegunTurn;
  progress: TurnProgress;
  report: CallReport | undefined;
}

/** Prompt and answer of the last call, as the model counted them: the answer is one content more. */
const reportedOf = ({ report }: Round) =>
  report && {
    tokens: report.usage.promptTokens + report.usage.outputTokens,
    contents: report.contents + 1,
    outputTokens: report.outputTokens,
  };

/**
 * What the next call of a turn sends, under the same limits as its first: shrunk over the hard threshold,
 * refused where it cannot fit, and reserved anew. Throws CONTEXT_WINDOW_WILL_OVERFLOW, quota reasons,
 * StoreUnavailableError.
 */
export async function promptOfRound(
  dependencies: ChatDependencies,
  round: Round,
): Promise<RoundPrompt> {
  const { config, toolbox, store } = dependencies;
  const { begun, progress } = round;
  const { conversation, history, turns, memory } = begun.context;
  const { model, user } = begun.call;
  const { conversationId, seq } = begun.attempt;
  const { contents } = progress;
  const context = { ...conversation, history, turns, memory };
  const view = viewOfRound(dependencies, context, {
    seq,
    user,
    contents,
    model,
    reported: reportedOf(round),
  });
  const last = contents.at(-1);
  const newTokens = last ? estimateContentTokens(last, meterCounting(conversation)) : 0;
  const requestTokens = Math.ceil(conversation.context.calibration * newTokens);
  await refuseRoundOverflow(dependencies, {
    conversationId,
    conversation: () => readConversation(store, conversationId),
    contextTokens: Math.max(0, view.tokens - requestTokens),
    requestTokens,
    overheadTokens: conversation.context.overheadTokens,
    policy: conversationPolicy(config, conversation),
  });
  await begun.reservation.renew({
    model,
    estimatedTokens: view.tokens,
    taken: usageBeyond(progress.usage, begun.progress.settled),
  });
  const source = { ...context, model, serverTools: toolbox.declarations };
  const prompt = assemblePrompt(source, view.items);
  const { shrinkage, isOverLimit, outputTokens } = view;
  return { prompt, sent: { shrinkage, isOverLimit, outputTokens } };
}
