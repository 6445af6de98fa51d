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
  /**
   * How it is to be answered. A regeneration has the options of the turn that it repeats, unless the request names
   * others.
   */
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
 * What the user says in a turn. Usually as sent, with its uploads looked up. A regeneration, and a stored message with
 * uploads, take it from turn `storedSeq`: the turn's own, or the replaced one while the new turn `isNew`. Throws what
 * `resolveUploads` throws.
 */
export async function storedMessage(
  { store, files }: Pick<ChatDependencies, 'store' | 'files'>,
  request: SendRequest,
  turn: {
    model: string;
    storedSeq: number;
    isNew: boolean;
    known?: Pick<Turn, 'routing'> | undefined;
  },
): Promise<Message> {
  const { caller, conversationId, message, replacing } = request;
  const { storedSeq, isNew, known } = turn;
  const options = encodeAnswerOptions(request.options);
  const isAuto = isRouted(turn.model);
  if (replacing?.kind !== 'regenerate' && (isNew || !hasUnreadUploads(message.parts))) {
    const parts = await resolveUploads({ store, files }, caller, message.parts);
    const user = { ...userContent(request), parts };
    return {
      user,
      retention: message.retention,
      options,
      routing: isAuto ? known?.routing : undefined,
    };
  }
  const [stored] = await readTurns(store, conversationId, [storedSeq]);
  if (!stored)
    throw new StoreUnavailableError({ operation: `turn ${storedSeq} of ${conversationId}` });
  const { user, retention, routing } = stored.value;
  return {
    user,
    retention,
    options: options ?? stored.value.options,
    routing: isAuto ? (known?.routing ?? (routing && { ...routing, why: 'rule' })) : undefined,
  };
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
