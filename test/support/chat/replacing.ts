import { randomUUID } from 'node:crypto';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { contentText, contentSchema } from '#shared/conversation/documents/content.ts';
import { chatDependencies } from './chat-dependencies.ts';
import { request } from './sending.ts';
import { answered } from './starts.ts';

/** A conversation with three answered messages and their ids. */
export async function threeTurns(dependencies = chatDependencies()) {
  const id = randomUUID();
  const sent = ['one', 'two', 'three'].map((text) => request(id, text));
  for (const each of sent) await answered(dependencies, each);
  return { id, dependencies, messageIds: sent.map(({ message }) => message.id) };
}

/** An edit of a user's message. */
export const edit = (conversationId: string, messageId: string, text: string): SendRequest => ({
  ...request(conversationId, text),
  replacing: { kind: 'edit', messageId },
});

/** The last answer anew. */
export const regenerate = (conversationId: string, messageId: string): SendRequest => {
  const asked = request(conversationId, '');
  return {
    ...asked,
    message: { ...asked.message, parts: [] },
    replacing: { kind: 'regenerate', messageId },
  };
};

/** The texts of messages and answers that `/context` shows. */
export async function shownTexts(
  dependencies: ChatDependencies,
  conversationId: string,
): Promise<string[]> {
  const caller = { uid: 'u1', tier: 'signedIn' } as const;
  const { items } = await showContext(dependencies, { caller, conversationId });
  return items
    .filter(({ kind }) => kind === 'turn')
    .map(({ content }) => contentText(contentSchema.parse(content)));
}
