import { addedContext } from '#shared/hooks/added-context.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/errors.ts';
import {
  beforeTurnAnswerSchema,
  type BeforeTurnEvent,
  type BeforeTurnHook,
} from '#shared/hooks/before-turn.ts';
import { runHook } from '#functions/lib/run-hook.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { userContent, type SendRequest } from '../send/send-request.ts';

/** The hooks of a message: the deployment's, then the remote document's, then the conversation's. */
function hooksOf(
  dependencies: ChatDependencies,
  conversation: Conversation | undefined,
): BeforeTurnHook[] {
  const { beforeTurnHooks = [], beforeTurnWebhooks, config } = dependencies;
  const named = [...(config.remotePolicy?.hooks() ?? []), ...(conversation?.settings.hooks ?? [])];
  return [...beforeTurnHooks, ...(beforeTurnWebhooks?.(named) ?? [])];
}

function eventOf(
  { config, sha256 }: ChatDependencies,
  request: SendRequest,
  seq: number,
): BeforeTurnEvent {
  const { conversationId, message, caller } = request;
  const text = config.BEFORE_TURN_TEXT === 'on' ? contentText(userContent(request)) : '';
  return {
    conversationId,
    turnId: turnId(seq),
    messageId: message.id,
    uidHash: sha256(caller.uid),
    ...(text !== '' && { text }),
  };
}

const deniedError = (conversationId: string, hook: string, publicMessage: string) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'TURN_DENIED',
    message: `the hook ${hook} refused a message of ${conversationId}`,
    publicMessage,
  });

/**
 * Asks the BeforeTurn hooks about a new message, all at once, and returns what they add to it; undefined where
 * they add nothing. Throws TURN_DENIED with the words of the first that refuses, HOOK_FAILED of a required one.
 */
async function askBeforeTurn(
  dependencies: ChatDependencies,
  request: SendRequest,
  turn: { seq: number; conversation: Conversation | undefined },
): Promise<string | undefined> {
  const hooks = hooksOf(dependencies, turn.conversation);
  if (hooks.length === 0) return undefined;
  const { clock, logger, config } = dependencies;
  const { conversationId } = request;
  const event = eventOf(dependencies, request, turn.seq);
  const run = {
    clock,
    logger,
    // Who has sent it may be gone; the message is stored all the same.
    signal: new AbortController().signal,
    timeoutMs: config.BEFORE_TURN_TIMEOUT_MS,
    conversationId,
    failedEvent: 'before_turn_hook_failed',
    publicMessage: 'A required step before the answer failed. Send the message again.',
  };
  const answered = await Promise.all(
    hooks.map(async (hook) => {
      const checked = {
        ...hook,
        run: async (...parameters: Parameters<typeof hook.run>) =>
          beforeTurnAnswerSchema.parse((await hook.run(...parameters)) ?? {}),
      };
      return { hook: hook.name, answer: await runHook(run, checked, event) };
    }),
  );
  for (const { hook, answer } of answered)
    if (answer?.deny) throw deniedError(conversationId, hook, answer.deny.message);
  const { text, leftOut } = addedContext(answered.map(({ answer }) => answer?.addContext ?? ''));
  for (const index of leftOut)
    logger.log('WARNING', 'before_turn_context_left_out', {
      conversationId,
      hook: answered[index]?.hook,
    });
  return text;
}

/** What hooks add to the turn of a message, asked once however often its start is tried. */
export function createBeforeTurn(dependencies: ChatDependencies, request: SendRequest) {
  let asked: { seq: number; added: Promise<string | undefined> } | undefined;
  return (turn: {
    seq: number;
    conversation: Conversation | undefined;
  }): Promise<string | undefined> => {
    if (asked?.seq !== turn.seq)
      asked = { seq: turn.seq, added: askBeforeTurn(dependencies, request, turn) };
    return asked.added;
  };
}
