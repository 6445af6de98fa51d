import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { THRESHOLD_TOKENS } from './compacted-conversation.ts';
import type { TurnToBuild } from './conversation-builder.ts';

export const PINNED = 'The user is allergic to hazelnuts.';
/** The pins of a conversation that has one. */
export const pins: Conversation['pins'] = [{ id: 'allergy', text: PINNED, source: 'api' }];

export const KEPT = 'My desk is number 4711-B on the third floor.';
/** The pin that a message with these words becomes, as the third one. */
export const kept = { id: 'keep-3', text: KEPT, source: 'api', seq: 3 };

/** Twenty turns; `said` stand at their places and are to stay word for word. */
export const turnsWith = (said: Record<number, string>): TurnToBuild[] =>
  Array.from({ length: 20 }, (_, i) => {
    const user = said[i + 1];
    return user === undefined ? {} : { user, retention: 'keep' };
  });

export const settings = { thresholdTokens: THRESHOLD_TOKENS };
