import { needOfChangedContext } from '../../../../shared/compaction/crossing.ts';
import type { CompactionNeeded, Head } from '../../../../shared/conversation/head.ts';
import type { History } from '../../../../shared/conversation/history.ts';
import { policyOf } from '../../conversation-policy.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/** The need that a context has after a person changed it, or undefined. */
export const needAfterChange = (
  { config, clock, randomness }: Pick<ChatDependencies, 'config' | 'clock' | 'randomness'>,
  after: { head: Head; history: History | undefined; tokens: number },
): CompactionNeeded['auto'] =>
  needOfChangedContext({
    ...after,
    policy: policyOf(config, after.head),
    requestId: randomness.uuid(),
    now: clock.now(),
  });
