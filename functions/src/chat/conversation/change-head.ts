import { headPath } from '../../../../shared/conversation/paths.ts';
import { GuardLostError } from '../../../../shared/errors.ts';
import type { Write } from '../../../../shared/ports.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { readOwnConversation, type OwnConversation, type OwnTarget } from './own-conversation.ts';

/** A change of the head reads again at most this often when others win its guard. */
const CHANGE_TRIES = 25;
const CHANGE_RETRY_MS = 10;
const CHANGE_RETRY_MAX_MS = 100;

/** What to write on a head, and what to answer; without `fields` nothing is written. */
export interface HeadChange<T> {
  fields?: Extract<Write, { op: 'update' }>['fields'];
  remove?: readonly string[];
  /** Writes beside the head that its guard covers. */
  writes?: readonly Write[];
  result: T;
}

/**
 * Changes a caller's own head under its update time: who loses the guard reads again and decides again.
 * Throws NOT_FOUND, what `decide` throws, and GuardLostError when others won every try.
 */
export async function changeHead<T>(
  dependencies: Pick<ChatDependencies, 'store' | 'clock'>,
  of: OwnTarget,
  decide: (own: OwnConversation) => HeadChange<T> | Promise<HeadChange<T>>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const own = await readOwnConversation(dependencies, of);
    const { fields, remove, writes = [], result } = await decide(own);
    if (!fields) return result;
    try {
      await dependencies.store.commit([
        {
          op: 'update',
          path: headPath(of.conversationId),
          fields,
          ...(remove && { remove }),
          guard: { updateTime: own.head.updateTime },
        },
        ...writes,
      ]);
      return result;
    } catch (error) {
      if (!(error instanceof GuardLostError) || tries >= CHANGE_TRIES) throw error;
      await dependencies.clock.wait(Math.min(CHANGE_RETRY_MAX_MS, CHANGE_RETRY_MS * tries));
    }
  }
}
