import { withoutSignatures } from '#shared/conversation/repair/repair-prompt.ts';
import type { TurnWriter } from '../turns/answer/turn-writer.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import type { BegunTurn } from '../turns/start/begun-turn.ts';
import { modelThatLimits, meterCounting } from '#functions/config/conversation-policy.ts';
import { timeoutAfter } from '#functions/lib/deadline.ts';
import { answeringModel, routingInService } from '#functions/models/models-in-use.ts';
import { takenByCall, takenInVain, type Taken } from '#functions/quota/paid-call.ts';
import type { Content } from '#shared/models/content.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import { classifierRequest, routeIn, fileParts } from '#shared/models/classifier-prompt.ts';
import {
  routeByClassifier,
  routeByRule,
  type RouteFacts,
  type Route,
  isRouted,
  type Routing,
  type RoutingModels,
} from '#shared/models/routing.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { listenTo } from './auxiliary-model-call.ts';

/**
 * How long a choice may take, ms: what a person who waits for the first word puts up with on top of it. A cheap
 * model takes 0.3 to 0.8 s for a sentence; one that takes longer is busy.
 */
export const ROUTING_TIMEOUT_MS = 2_000;

/** What is read of an answer that does not end, UTF-16 units. */
const ANSWER_CHARACTERS = 4_000;

/** What is to be judged, of whose conversation. */
interface ToBeRouted {
  conversationId: string;
  seq: number;
  dialogue: readonly Content[];
  message: Content;
}

const timeoutError = (cause: unknown) =>
  new AppError({
    reason: 'MODEL_TIMEOUT',
    message: `the classifier gave no choice within ${ROUTING_TIMEOUT_MS} ms`,
    publicMessage: 'The model did not answer in time.',
    cause,
  });

/** What a cheap model has chosen, if anything, and what that took; undefined: it was not asked. */
interface Classified {
  route: Route | undefined;
  spent: Taken | undefined;
}

/**
 * Asks a cheap model which of the two is to answer, for 2 s at most, out of what the turn has reserved. No route where it
 * failed, answered something else, was left alone because it had failed before, or `signal` fired. Never throws; the log
 * says why, and never what was said.
 */
async function askClassifier(
  dependencies: ChatDependencies,
  asked: ToBeRouted,
  signal: AbortSignal,
): Promise<Classified> {
  const { config, clock, logger, modelHealth } = dependencies;
  const { conversationId, seq } = asked;
  const model = answeringModel(config, config.QUICK_MODEL);
  const request: ModelRequest = {
    ...classifierRequest(model, asked),
    role: 'utility_router',
    promptId: `${turnId(seq)}-route`,
  };
  const begin = clock.now().getTime();
  const fields = () => ({ conversationId, seq, model, durationMs: clock.now().getTime() - begin });
  const timeout = timeoutAfter(dependencies, ROUTING_TIMEOUT_MS);
  let isAsked = false;
  const failed = (failure: unknown): Classified => ({
    route: undefined,
    spent: isAsked ? takenInVain(config, request, failure) : undefined,
  });
  try {
    modelHealth.refusePaused(model);
    isAsked = true;
    const answer = await listenTo(dependencies, {
      conversationId,
      request,
      maximumCharacters: ANSWER_CHARACTERS,
      signal: AbortSignal.any([timeout.signal, signal]),
    });
    modelHealth.answered(model);
    const { usage } = answer;
    const spent = takenByCall(config, request, usage);
    const route = answer.finishReason === 'STOP' ? routeIn(answer.text) : undefined;
    logger.log(route ? 'INFO' : 'WARNING', route ? 'turn_routed' : 'routing_refused', {
      ...fields(),
      route,
      promptTokens: usage?.promptTokens,
      outputTokens: usage?.outputTokens,
      costMicros: usage && spent.costMicros,
    });
    return { route, spent };
  } catch (error) {
    if (signal.aborted) return failed(error);
    const failure = timeout.signal.aborted ? timeoutError(error) : error;
    modelHealth.failed(model, failure);
    const reason = failure instanceof AppError ? failure.reason : 'INTERNAL';
    logger.log('WARNING', 'routing_failed', { ...fields(), reason });
    return failed(failure);
  } finally {
    timeout.stop();
  }
}

function factsOf(begun: BegunTurn, models: RoutingModels): RouteFacts {
  const { conversation, turns } = begun.context;
  const { user, routing: earlier } = begun.turn;
  const files = { ...user, parts: fileParts(user) };
  return {
    models,
    earlier,
    setting: conversation.settings.routing,
    last: turns.findLast(({ inContext, routing }) => inContext && routing)?.routing?.choice,
    filesTokens: estimateContentTokens(files, meterCounting(conversation)),
  };
}

/** What attempts before this one have left: another model than theirs cannot read their signatures. */
const readableFor = (
  model: string,
  { turn, progress }: Pick<BegunTurn, 'turn' | 'progress'>,
): BegunTurn['progress'] =>
  turn.routing?.model === model
    ? progress
    : { ...progress, contents: withoutSignatures(progress.contents) };

/** Which model answers, and what the choice took, where a model was asked for it. */
interface Choice {
  routing: Routing;
  spent?: BegunTurn['routingSpent'];
}

async function choose(
  dependencies: ChatDependencies,
  begun: BegunTurn,
  input: { models: RoutingModels; signal: AbortSignal },
): Promise<Choice> {
  const facts = factsOf(begun, input.models);
  const ruled = routeByRule(facts);
  if (ruled) return { routing: ruled };
  const { conversationId, seq } = begun.attempt;
  const toBeRouted = {
    conversationId,
    seq,
    dialogue: begun.context.turns
      .filter(({ inContext }) => inContext)
      .flatMap(({ user, contents }) => [user, ...contents]),
    message: begun.turn.user,
  };
  const { route, spent } = await askClassifier(dependencies, toBeRouted, input.signal);
  return { routing: routeByClassifier(route, input.models), spent };
}

/**
 * A turn of an `auto` conversation with its model, before its first call; every other turn has its own. What was
 * chosen is stored while the call begins, so that whoever takes the turn over stays with it. Never throws.
 */
export async function routeTurn(
  dependencies: ChatDependencies,
  begun: BegunTurn,
  { writer, signal }: { writer: Pick<TurnWriter, 'note'>; signal: AbortSignal },
): Promise<BegunTurn> {
  const { config } = dependencies;
  const { conversation } = begun.context;
  if (!isRouted(conversation.model)) return begun;
  const models = routingInService(config);
  const choice = models && (await choose(dependencies, begun, { models, signal }));
  const routingSpent = choice?.spent;
  // A turn that was stopped meanwhile is not answered by anybody.
  if (signal.aborted) return { ...begun, routingSpent };
  const routing = choice?.routing;
  const model = routing?.model ?? modelThatLimits(config, conversation.model);
  if (routing) writer.note({ routing: { ...routing } });
  const { call } = begun;
  return {
    ...begun,
    progress: readableFor(model, begun),
    turn: { ...begun.turn, routing },
    call: { ...call, model, prompt: call.promptFor(model) },
    routingSpent,
  };
}
