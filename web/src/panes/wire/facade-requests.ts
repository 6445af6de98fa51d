import type { Call } from '#web/api/requester.ts';

export const facades = ['recap', 'aiSdk', 'openAi', 'callable'] as const;
export type Facade = (typeof facades)[number];

/**
 * One message as each protocol puts it. The ids are the same, so that all four are one turn with one answer,
 * whoever comes first.
 */
export function facadeCall(
  facade: Facade,
  sent: { conversationId: string; messageId: string; text: string },
): Call {
  const { conversationId, messageId, text } = sent;
  const message = { id: messageId, parts: [{ type: 'text', text }] };
  const post = (path: string, body: object): Call => ({ method: 'POST', path, body });
  switch (facade) {
    case 'recap':
      return post(`/v1/conversations/${conversationId}/messages`, { message });
    case 'aiSdk':
      return post('/v1/ai-sdk/chat', {
        id: conversationId,
        messages: [{ ...message, role: 'user' }],
      });
    case 'openAi': {
      const messages = [{ role: 'user', content: text }];
      const headers = { 'x-conversation-id': conversationId, 'idempotency-key': messageId };
      const body = { model: 'recap', stream: true, messages };
      return { ...post('/v1/openai/chat/completions', body), headers };
    }
    case 'callable':
      return post('/callable/chat', { data: { conversationId, message } });
  }
}
