import { tellContext } from '../../../../shared/client-context/tell-context.ts';
import type { Turn } from '../../../../shared/conversation/turn.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import type { SendRequest } from './send-request.ts';

/** What a turn stores beside its message, for the model alone. */
export type Surroundings = Pick<Turn, 'surroundings' | 'told'>;

/** Of a line; two lines of one name in one conversation are alike by accident once in 2^64. */
const DIGEST_CHARACTERS = 16;

/**
 * What is told beside a new message. `turns`: those before it, as the prompt has them; where it leaves some out,
 * none, so that all is told.
 */
export function surroundingsOf(
  { clock, sha256 }: Pick<ChatDependencies, 'clock' | 'sha256'>,
  { clientContext, addedContext }: Pick<SendRequest, 'clientContext' | 'addedContext'>,
  { generation, turns }: { generation: number; turns: readonly Turn[] },
): Surroundings {
  if (!clientContext) return addedContext === undefined ? {} : { surroundings: addedContext };
  const { text, told } = tellContext({
    context: clientContext,
    now: clock.now(),
    generation,
    turns,
    digest: (line) => sha256(line).slice(0, DIGEST_CHARACTERS),
  });
  const texts = [text, ...(addedContext === undefined ? [] : [addedContext])];
  return { surroundings: texts.join('\n'), told };
}
