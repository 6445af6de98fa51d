import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { hasUnreadUploads, resolveUploads } from '#functions/chat/features/uploads.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Content } from '#shared/models/content.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import { encodeAnswerOptions } from '#shared/models/answer-options.ts';
import { isRouted } from '#shared/models/routing.ts';
import { userContent, type SendRequest } from '../send/send-request.ts';
import { knownAfter, type KnownClient } from '#shared/conversation/documents/client-context.ts';
import { describeContext } from '#shared/conversation/describe-client.ts';

/** A user's message as its turn stores it. */
export interface Message {
  user: Content;
  retention: Turn['retention'];
  /** How it is to be answered. */
  options: Turn['options'];
  /** Of an `auto` conversation: the choice of an earlier attempt at this turn, or of the turn that it repeats. */
  routing: Turn['routing'];
}

/** The turn whose message a new turn repeats; undefined for one that says something of its own. */
export const regeneratedBy = (
  { replacing }: SendRequest,
  replaces: number | undefined,
): number | undefined => (replacing?.kind === 'regenerate' ? replaces : undefined);

/**
 * The message of a turn that is to be stored: as sent, with its uploads looked up. A regeneration repeats that of turn
 * `replaces`. Throws what `resolveUploads` throws.
 */
export async function newMessage(
  { store, files }: Pick<ChatDependencies, 'store' | 'files'>,
  request: SendRequest,
  { model, replaces }: { model: string; replaces: number | undefined },
): Promise<Message> {
  const { caller, message } = request;
  const repeats = regeneratedBy(request, replaces);
  if (repeats !== undefined) {
    const repeated = await readMessage({ store }, request, repeats);
    const { routing } = repeated;
    return {
      ...repeated,
      routing: isRouted(model) && routing ? { ...routing, why: 'rule' } : undefined,
    };
  }
  return {
    user: { role: 'user', parts: await resolveUploads({ store, files }, caller, message.parts) },
    retention: message.retention,
    options: encodeAnswerOptions(request.options),
    routing: undefined,
  };
}

/** The message of a stored turn. Usually the request has all of it, and saves the read. */
export async function messageOfTurn(
  { store }: Pick<ChatDependencies, 'store'>,
  request: SendRequest,
  { model, known }: { model: string; known: Pick<Turn, 'seq' | 'routing'> },
): Promise<Message> {
  const { message, replacing } = request;
  const routing = isRouted(model) ? known.routing : undefined;
  if (replacing?.kind === 'regenerate' || hasUnreadUploads(message.parts))
    return { ...(await readMessage({ store }, request, known.seq)), routing };
  return {
    user: userContent(request),
    retention: message.retention,
    options: encodeAnswerOptions(request.options),
    routing,
  };
}

/** The message of turn `seq`, with the options of the request where it names any. */
async function readMessage(
  { store }: Pick<ChatDependencies, 'store'>,
  { conversationId, options }: SendRequest,
  seq: number,
): Promise<Message> {
  const [turn] = await readTurns(store, conversationId, [seq]);
  if (!turn) throw new StoreUnavailableError({ operation: `turn ${seq} of ${conversationId}` });
  const { user, retention, routing } = turn.value;
  return { user, retention, options: encodeAnswerOptions(options) ?? turn.value.options, routing };
}

/** What a turn stores beside its message: only the model reads it. */
export type TurnContext = Pick<Turn, 'surroundings' | 'describedClient' | 'tools'>;

/**
 * Length of the digest of a line: two different lines of one name in one conversation have the same one once in 2^64.
 */
const DIGEST_CHARACTERS = 16;

/** What the conversation document has to say of the client from now on; undefined: nothing new. */
export function newsOfClient(
  known: KnownClient | undefined,
  { clientContext }: Pick<SendRequest, 'clientContext'>,
): KnownClient | undefined {
  const after = knownAfter(known, clientContext);
  const isKnown = known?.timeZone === after.timeZone && known?.locale === after.locale;
  return isKnown ? undefined : after;
}

/**
 * What the model is told beside a new message: the time always, unless the deployment wants it otherwise, and of the
 * client what the turns before have not told. `turns`: the turns before it in the prompt; empty where the prompt leaves
 * some out, so that all is told again.
 */
export function collectTurnContext(
  { clock, sha256, config }: Pick<ChatDependencies, 'clock' | 'sha256' | 'config'>,
  { clientContext, added }: Pick<SendRequest, 'clientContext' | 'added'>,
  before: { generation: number; turns: readonly Turn[]; known: KnownClient | undefined },
): TurnContext {
  const { context: addedContext, tools } = added ?? {};
  if (!clientContext && config.TELL_TIME === 'with-context')
    return { surroundings: addedContext, tools };
  const { text, describedClient } = describeContext({
    ...before,
    context: clientContext,
    now: clock.now(),
    digest: (line) => sha256(line).slice(0, DIGEST_CHARACTERS),
  });
  const surroundings = addedContext === undefined ? text : `${text}\n${addedContext}`;
  return { surroundings, describedClient, tools };
}
