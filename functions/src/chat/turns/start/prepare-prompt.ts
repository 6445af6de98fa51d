import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { type IndexLoad, recallForTurn } from '#functions/chat/features/recall-for-turn.ts';
import {
  meterCounting,
  conversationPolicy,
  recallTokens,
} from '#functions/config/conversation-policy.ts';
import { memoryForPrompt, withSaid } from '#functions/memory/prompt-memory.ts';
import { assemblePrompt } from '#shared/conversation/context/assemble-context.ts';
import { shownUser } from '#shared/conversation/context/shown-user.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import type { MemoryTexts } from '#shared/memory/render-memory.ts';
import { estimateContentTokens, estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import type { BegunTurn } from './begun-turn.ts';
import type { Begin, ContextBefore } from './context-before.ts';
import { viewOfNextCall } from './next-call.ts';
import { refuseOverflow } from './overflow.ts';
import type { Message } from './stored-message.ts';
import { collectTurnContext, type TurnContext } from './turn-context.ts';

/** What the turn stores beside its message: as it is stored already, else what this request brings. */
function turnContextOf(
  dependencies: ChatDependencies,
  { request, state, decision }: Begin,
  { before, isShrunken }: { before: ContextBefore; isShrunken: boolean },
): TurnContext {
  if (decision.kind !== 'start') {
    const { surroundings, describedClient } = state.known?.value ?? {};
    return { surroundings, describedClient };
  }
  const { generation, client: known } = before.conversation;
  const turns = isShrunken ? [] : before.turns;
  return collectTurnContext(dependencies, request, { generation, turns, known });
}

/** The message as this call says it, behind what is said beside it, and what all of that weighs in tokens. */
async function composeMessage(
  dependencies: ChatDependencies,
  { request }: Begin,
  input: {
    before: ContextBefore;
    message: Message;
    index: IndexLoad | undefined;
    turnContext: TurnContext;
    /** Of the memory, what is new or touched by the message. */
    memory: string;
    contextTokens: number;
  },
) {
  const { config } = dependencies;
  const { before, message, turnContext } = input;
  const counting = meterCounting(before.conversation);
  const userTokens = estimateContentTokens(shownUser({ ...message, ...turnContext }), counting);
  const { windowTokens } = conversationPolicy(config, before.conversation);
  const freeTokens = windowTokens - input.contextTokens - userTokens;
  const recalled = await recallForTurn(dependencies, input.index, {
    conversationId: request.conversationId,
    ...before,
    message: message.user,
    budgetTokens: recallTokens(config, before.conversation, { request, freeTokens }),
  });
  const user = withSaid(withSaid(message.user, input.memory), recalled.text);
  const lastContent = shownUser({ user, ...turnContext });
  const sentTokens = estimateContentTokens(lastContent, counting);
  return { lastContent, recalled, userTokens, sentTokens, counting };
}

/** What is sent to the model, and what it weighs. */
interface PreparedPrompt extends Pick<BegunTurn, 'call' | 'tokens'> {
  /** Tokens of all of it. */
  promptTokens: number;
  memory: MemoryTexts;
  turnContext: TurnContext;
}

/** What is sent to the model. Throws CONTEXT_WINDOW_WILL_OVERFLOW. */
export async function preparePrompt(
  dependencies: ChatDependencies,
  begin: Begin,
  input: {
    before: ContextBefore;
    message: Message;
    conversation: Versioned<Conversation> | { create: Conversation };
    index: IndexLoad | undefined;
  },
): Promise<PreparedPrompt> {
  const { before, message } = input;
  const { conversation } = before;
  const { model } = conversation;
  const { notes } = begin.state;
  const { config, toolbox } = dependencies;
  const selected = memoryForPrompt(config, { conversation, notes, message: message.user });
  const { standing: memory } = selected;
  const source = {
    ...conversation,
    history: before.history,
    turns: before.turns,
    memory,
    serverTools: toolbox.declarations,
  };
  const view = viewOfNextCall(dependencies, source);
  const isShrunken = (view.shrinkage?.turnsLeftOut ?? 0) > 0;
  const turnContext = turnContextOf(dependencies, begin, { before, isShrunken });
  const contextTokens = view.tokens;
  const { lastContent, recalled, userTokens, sentTokens, counting } = await composeMessage(
    dependencies,
    begin,
    { ...input, turnContext, memory: selected.said, contextTokens },
  );
  const promptFor = (asked: string) =>
    assemblePrompt({ ...source, model: asked }, view.items, lastContent);
  const prompt = promptFor(model);
  const { conversationId } = begin.request;
  await refuseOverflow(dependencies, { ...input, conversationId, contextTokens, sentTokens });
  const overhead = estimatePromptTokens({ ...prompt, contents: [] }, counting);
  const { shrinkage, isOverLimit, outputTokens } = view;
  const sent = { shrinkage, isOverLimit, outputTokens };
  return {
    call: { model, prompt, promptFor, user: lastContent, recalled, sent },
    tokens: { user: userTokens, said: sentTokens - userTokens, overhead },
    promptTokens: contextTokens + sentTokens,
    memory,
    turnContext,
  };
}
