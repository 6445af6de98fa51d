import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { runHook } from '#functions/lib/run-hook.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/errors.ts';
import {
  addedContext,
  type BeforeTurnEvent,
  beforeTurnAnswerSchema,
} from '#shared/hooks/before-turn.ts';
import type { SendRequest } from '../send/send-request.ts';

/** How long the user waits for the hooks, which are asked at the same time. */
const HOOKS_TIMEOUT_MS = 2_000;

/**
 * Asks the BeforeTurn hooks about a new message, the deployment's and the remote document's all at once, and returns what
 * they add to it; undefined where they add nothing. Throws TURN_DENIED with the words of the first that refuses,
 * HOOK_FAILED of a required one.
 */
async function askBeforeTurn(
  dependencies: ChatDependencies,
  { conversationId, message, caller }: SendRequest,
  seq: number,
): Promise<string | undefined> {
  const { beforeTurnHooks = [], beforeTurnWebhooks, config, clock, logger, sha256 } = dependencies;
  const webhooks = config.remotePolicy?.hooks() ?? [];
  const hooks = [...beforeTurnHooks, ...(beforeTurnWebhooks?.(webhooks) ?? [])];
  if (hooks.length === 0) return undefined;
  const event: BeforeTurnEvent = {
    conversationId,
    turnId: turnId(seq),
    messageId: message.id,
    uidHash: sha256(caller.uid),
  };
  const run = {
    clock,
    logger,
    // Who has sent it may be gone; the message is stored all the same.
    signal: new AbortController().signal,
    timeoutMs: HOOKS_TIMEOUT_MS,
    conversationId,
    failedEvent: 'before_turn_hook_failed',
    publicMessage: 'A required step before the answer failed. Send the message again.',
  };
  const answers = await Promise.all(
    hooks.map((hook) => {
      const checked = {
        ...hook,
        run: async (...parameters: Parameters<typeof hook.run>) =>
          beforeTurnAnswerSchema.parse((await hook.run(...parameters)) ?? {}),
      };
      return runHook(run, checked, event);
    }),
  );
  for (const [index, answer] of answers.entries())
    if (answer?.deny)
      throw new AppError({
        status: 'FAILED_PRECONDITION',
        reason: 'TURN_DENIED',
        message: `the hook ${hooks[index]?.name} refused a message of ${conversationId}`,
        publicMessage: answer.deny.message,
      });
  const { text, leftOut } = addedContext(answers.map((answer) => answer?.addContext ?? ''));
  for (const index of leftOut)
    logger.log('WARNING', 'before_turn_context_left_out', {
      conversationId,
      hook: hooks[index]?.name,
    });
  return text;
}

/** What hooks add to the turn of a message, asked once however often its start is tried. */
export function createBeforeTurn(dependencies: ChatDependencies, request: SendRequest) {
  let asked: { seq: number; added: Promise<string | undefined> } | undefined;
  return (seq: number): Promise<string | undefined> => {
    if (asked?.seq !== seq) asked = { seq, added: askBeforeTurn(dependencies, request, seq) };
    return asked.added;
  };
}
