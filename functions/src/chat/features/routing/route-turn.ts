import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { withoutSignatures } from '#shared/conversation/repair/own-signatures.ts';
import { fileParts } from '#shared/routing/classifier-prompt.ts';
import { routeByClassifier, routeByRule, type RouteFacts } from '#shared/routing/route-decision.ts';
import { isRouted, type Routing, type RoutingModels } from '#shared/routing/routing.ts';
import { modelThatLimits, meterCounting } from '#functions/config/conversation-policy.ts';
import { routingInService } from '#functions/models/models-in-use.ts';
import type { TurnWriter } from '#functions/chat/turns/store/turn-writer.ts';
import { askClassifier } from './ask-classifier.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { BegunTurn } from '#functions/chat/turns/start/begun-turn.ts';

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
