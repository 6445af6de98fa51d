import type { MemoryTexts } from '#shared/conversation/context/memory-texts.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { type IndexLoad, recallForTurn } from '#functions/chat/features/recall-for-turn.ts';
import {
  meterCounting,
  conversationPolicy,
  recallTokens,
} from '#functions/config/conversation-policy.ts';
import { memoryForPrompt, withTextBefore } from '#functions/memory/prompt-memory.ts';
import { assemblePrompt } from '#shared/conversation/context/assemble-context.ts';
import { shownUser } from '#shared/conversation/documents/turn.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { estimateContentTokens, estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import type { BegunTurn, TurnToBegin } from './begun-turn.ts';
import type { PlannedContext } from './plan-context.ts';
import { viewOfNextCall } from '#functions/context/next-call.ts';
import { toolboxOfTurn } from '../tools/toolbox.ts';
import { refuseOrCompact } from '../overflow.ts';
import { type Message, collectTurnContext, type TurnContext } from './turn-message.ts';

/** What is sent to the model, with its size. */
interface PreparedPrompt extends Pick<BegunTurn, 'call' | 'tokens'> {
  /** Tokens of all of it. */
  promptTokens: number;
  memory: MemoryTexts;
  turnContext: TurnContext;
}

/**
 * The first call of a turn: the context, then what is said beside the message (of its client, the memory and folded
 * turns), then the message. Throws CONTEXT_WINDOW_WILL_OVERFLOW.
 */
export async function preparePrompt(
  dependencies: ChatDependencies,
  { request, state, decision }: TurnToBegin,
  input: {
    planned: PlannedContext;
    message: Message;
    document: Versioned<Conversation> | { create: Conversation };
    index: IndexLoad | undefined;
  },
): Promise<PreparedPrompt> {
  const { config, toolbox } = dependencies;
  const { planned, message, document } = input;
  const { conversation, history, turns } = planned;
  const { conversationId } = request;
  const counting = meterCounting(conversation);
  const memory = memoryForPrompt(config, {
    conversation,
    notes: state.notes,
    message: message.user,
  });
  const tools = decision.kind === 'start' ? request.added?.tools : state.known?.value.tools;
  const source = {
    ...conversation,
    history,
    turns,
    memory: memory.standing,
    serverTools: toolboxOfTurn(toolbox, tools).declarations,
  };
  const { shrinkage, isOverLimit, outputTokens, ...view } = viewOfNextCall(dependencies, source);

  const { generation, client } = conversation;
  const shownTurns = (shrinkage?.turnsLeftOut ?? 0) > 0 ? [] : turns;
  // A stored turn keeps what was told beside its message.
  const turnContext: TurnContext =
    decision.kind === 'start'
      ? collectTurnContext(dependencies, request, { generation, turns: shownTurns, known: client })
      : {
          surroundings: state.known?.value.surroundings,
          describedClient: state.known?.value.describedClient,
          tools,
        };
  const userTokens = estimateContentTokens(shownUser({ ...message, ...turnContext }), counting);
  const { windowTokens } = conversationPolicy(config, conversation);
  const freeTokens = windowTokens - view.tokens - userTokens;
  const recalled = await recallForTurn(dependencies, input.index, {
    conversationId,
    ...planned,
    message: message.user,
    budgetTokens: recallTokens(config, conversation, { request, freeTokens }),
  });
  const withMemory = withTextBefore(message.user, memory.withMessage);
  const user = shownUser({ user: withTextBefore(withMemory, recalled.text), ...turnContext });
  const sentTokens = estimateContentTokens(user, counting);

  const promptFor = (model: string) => assemblePrompt({ ...source, model }, view.items, user);
  const prompt = promptFor(conversation.model);
  // A compaction of the present context makes no room in the one that an edit goes back to.
  const toCompact = planned.replacement || 'create' in document ? undefined : document;
  await refuseOrCompact(dependencies, {
    conversationId,
    what: 'message',
    conversation,
    contextTokens: view.tokens,
    requestTokens: Math.ceil(conversation.context.calibration * sentTokens),
    toCompact: () => Promise.resolve(toCompact),
  });
  const overhead = estimatePromptTokens({ ...prompt, contents: [] }, counting);
  const sent = { shrinkage, isOverLimit, outputTokens };
  return {
    call: { model: conversation.model, prompt, promptFor, user, recalled, sent },
    tokens: { user: userTokens, transient: sentTokens - userTokens, overhead },
    promptTokens: view.tokens + sentTokens,
    memory: memory.standing,
    turnContext,
  };
}
