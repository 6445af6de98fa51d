import { randomUUID } from 'node:crypto';
import { localProjectId } from '#infra/local/stack/stack-environment.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';

/** Who asks, and whose the conversations of `buildConversation` are. */
const UID = 'u1';

/** What a client of the local stack sends with every call. */
const clientHeaders = () => ({
  authorization: `Bearer ${unsignedToken({ uid: UID, projectId: localProjectId, now: new Date() })}`,
  accept: 'text/event-stream',
  'content-type': 'application/json',
});

/** A new message of one conversation, whose answer is to be a stream. */
export const sendRequest = (
  chatUrl: string,
  { conversationId, text }: { conversationId: string; text: string },
) => ({
  url: `${chatUrl}/v1/conversations/${conversationId}/messages`,
  headers: clientHeaders(),
  body: JSON.stringify({ message: { id: randomUUID(), parts: [{ type: 'text', text }] } }),
});
