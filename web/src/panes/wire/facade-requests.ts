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
  switch (facade) {
    case 'recap':
      return {
        method: 'POST',
        path: `/v1/conversations/${conversationId}/messages`,
        body: { message },
      };
    case 'aiSdk':
      return {
        method: 'POST',
        path: '/v1/ai-sdk/chat',
        body: { id: conversationId, messages: [{ ...message, role: 'user' }] },
      };
    case 'openAi':
      return {
        method: 'POST',
        path: '/v1/openai/chat/completions',
        headers: { 'x-conversation-id': conversationId, 'idempotency-key': messageId },
        body: { model: 'recap', stream: true, messages: [{ role: 'user', content: text }] },
      };
    case 'callable':
      return {
        method: 'POST',
        path: '/callable/chat',
        body: { data: { conversationId, message } },
      };
  }
}
