import { knownAfter, type KnownClient } from '#shared/client-context/client-context.ts';
import { describeContext } from '#shared/client-context/describe-context.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { SendRequest } from '../send/send-request.ts';

/** What a turn stores beside its message, for the model alone. */
export type TurnContext = Pick<Turn, 'surroundings' | 'describedClient'>;

/** Of a line; two lines of one name in one conversation are alike by accident once in 2^64. */
const DIGEST_CHARACTERS = 16;

/** What the conversation document is to say of the client from now on; undefined: it says so already. */
export function newsOfClient(
  known: KnownClient | undefined,
  { clientContext }: Pick<SendRequest, 'clientContext'>,
): KnownClient | undefined {
  const after = knownAfter(known, clientContext);
  const isKnown = known?.timeZone === after.timeZone && known?.locale === after.locale;
  return isKnown ? undefined : after;
}

/**
 * What is told beside a new message: the time always, unless the deployment wants it otherwise. `turns`: those before it, as the prompt has them; where it
 * leaves some out, none, so that all is told.
 */
export function collectTurnContext(
  { clock, sha256, config }: Pick<ChatDependencies, 'clock' | 'sha256' | 'config'>,
  { clientContext, addedContext }: Pick<SendRequest, 'clientContext' | 'addedContext'>,
  before: { generation: number; turns: readonly Turn[]; known: KnownClient | undefined },
): TurnContext {
  if (!clientContext && config.TELL_TIME === 'with-context')
    return addedContext === undefined ? {} : { surroundings: addedContext };
  const { text, describedClient } = describeContext({
    ...before,
    context: clientContext,
    now: clock.now(),
    digest: (line) => sha256(line).slice(0, DIGEST_CHARACTERS),
  });
  const texts = [text, ...(addedContext === undefined ? [] : [addedContext])];
  return { surroundings: texts.join('\n'), describedClient };
}
