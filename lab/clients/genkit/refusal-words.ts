import type { Refusal } from './chat-client.ts';

/** Which of our reasons say what Genkit says in these words. */
const reasonsFor: Readonly<Record<string, readonly string[]>> = {
  'modified inputs': ['BAD_FIELD'],
  'not found in session history': ['BAD_FIELD', 'TOOL_CALL_NOT_FOUND'],
  "Cannot send 'state' to agent": ['BAD_FIELD'],
  'does not belong to session': ['CONVERSATION_NOT_FOUND', 'MESSAGE_NOT_FOUND'],
};

/** Whether a refusal says what Genkit says in these words. */
export const isWordFor = (words: string, { reason, message }: Refusal): boolean =>
  message.includes(words) || (reasonsFor[words]?.includes(reason) ?? false);
