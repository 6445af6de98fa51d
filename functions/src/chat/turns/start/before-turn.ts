import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import {
  refuseRouting,
  refuseUnknownModel,
} from '#functions/chat/conversations/writable-fields.ts';
import { hookFault, runHook } from '#functions/lib/run-hook.ts';
import { readContextParts, readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Part } from '#shared/models/content.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import {
  addedContext,
  type BeforeTurnAnswer,
  type BeforeTurnHook,
  type BeforeTurnQuestion,
  beforeTurnAnswerSchema,
} from '#shared/hooks/before-turn.ts';
import { type ReadTurn, toReadTurn } from '#shared/hooks/read-turn.ts';
import { isToolOfApp } from '../tools/toolbox.ts';
import type { AddedToTurn, SendRequest } from '../send/send-request.ts';
import type { StartState } from './read-start.ts';

/** How long the user waits for the hooks, which are asked at the same time. */
const HOOKS_TIMEOUT_MS = 2_000;

/**
 * The turns that the model sees word for word before a new one, without those that it replaces. Throws
 * StoreUnavailableError.
 */
async function readTail(
  dependencies: ChatDependencies,
  { conversationId }: SendRequest,
  { conversation, facts }: StartState,
): Promise<ReadTurn[]> {
  if (!conversation) return [];
  const replaced = facts.replacing?.target;
  const { turns } = await readContextParts(dependencies, {
    conversationId,
    conversation: conversation.value,
    ...(replaced && { toSeq: replaced.seq - 1 }),
  });
  return turns.filter(({ inContext }) => inContext).map(toReadTurn);
}

/** What the user says in a new turn: a regeneration repeats the turn that it replaces. Throws StoreUnavailableError. */
async function readParts(
  { store }: Pick<ChatDependencies, 'store'>,
  { conversationId, message }: SendRequest,
  { facts: { replacing } }: StartState,
): Promise<readonly Part[]> {
  if (replacing?.kind !== 'regenerate' || !replacing.target) return message.parts;
  const [repeated] = await readTurns(store, conversationId, [replacing.target.seq]);
  return repeated?.value.user.parts ?? message.parts;
}

/** What a hook answered. Throws ZodError, and HOOK_FAILED that names what is not known here. */
function checkedAnswer(
  { config, toolbox }: ChatDependencies,
  hook: BeforeTurnHook,
  answer: unknown,
): BeforeTurnAnswer {
  const checked = beforeTurnAnswerSchema.parse(answer ?? {});
  const { model, tools = [] } = checked;
  try {
    refuseRouting(config, { model });
    refuseUnknownModel(config, { model });
  } catch (error) {
    throw error instanceof AppError ? hookFault(`${hook.name}: ${error.publicMessage}`) : error;
  }
  const unknown = tools.findIndex((name) => !isToolOfApp(toolbox, name));
  if (unknown >= 0)
    throw hookFault(
      `${hook.name}: tools[${unknown}] is the name of no tool of the app; its tools are those that defineRecap was given`,
    );
  return checked;
}

/**
 * Asks the BeforeTurn hooks about a new message, the deployment's and the remote document's all at once, and returns what
 * they give to its turn; of several models, and of several choices of tools, the first. Throws TURN_DENIED with the words of the first that refuses,
 * HOOK_FAILED of a required one.
 */
async function askBeforeTurn(
  dependencies: ChatDependencies,
  request: SendRequest,
  { seq, state }: { seq: number; state: StartState },
): Promise<AddedToTurn> {
  const { conversationId, message, caller } = request;
  const { beforeTurnHooks = [], beforeTurnWebhooks, config, clock, logger, sha256 } = dependencies;
  const webhooks = config.remotePolicy?.hooks() ?? [];
  const hooks = [...beforeTurnHooks, ...(beforeTurnWebhooks?.(webhooks) ?? [])];
  if (hooks.length === 0) return {};
  const question: BeforeTurnQuestion = {
    event: {
      conversationId,
      turnId: turnId(seq),
      messageId: message.id,
      uidHash: sha256(caller.uid),
    },
    caller,
    parts: await readParts(dependencies, request, state),
    history: () => readTail(dependencies, request, state),
  };
  const run = {
    clock,
    logger,
    // Not the request's signal: hooks run even if the sender hangs up.
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
          checkedAnswer(dependencies, hook, await hook.run(...parameters)),
      };
      return runHook(run, checked, question);
    }),
  );
  for (const answer of answers)
    if (answer?.deny)
      throw new AppError({
        reason: 'TURN_DENIED',
        publicMessage: answer.deny.message,
      });
  const { text, leftOut } = addedContext(answers.map((answer) => answer?.addContext ?? ''));
  for (const index of leftOut)
    logger.log('WARNING', 'before_turn_context_left_out', {
      conversationId,
      hook: hooks[index]?.name,
    });
  return {
    context: text,
    model: answers.find((answer) => answer?.model)?.model,
    tools: answers.find((answer) => answer?.tools)?.tools,
  };
}

/** What hooks give to the turn of a message, asked once however often its start is tried. */
export function createBeforeTurn(dependencies: ChatDependencies, request: SendRequest) {
  let asked: { seq: number; added: Promise<AddedToTurn> } | undefined;
  return (seq: number, state: StartState): Promise<AddedToTurn> => {
    if (asked?.seq !== seq)
      asked = { seq, added: askBeforeTurn(dependencies, request, { seq, state }) };
    return asked.added;
  };
}
