import type { GroundingReport } from '#shared/models/grounding.ts';
import { sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { readAs } from '#test/support/chat/chat-server.ts';
import { usage } from '../wire/openai.ts';
import type { WireServer } from '../wire/wire-server.ts';
import { randomUUID } from 'node:crypto';

export const UEFA = 'https://uefa.com/euro';
export const EXAMPLE = 'https://example.org/final';

/** What the answer of `groundedAnswer` says and rests on. */
export const ANSWER = '¡Sí! España won Euro 2024. The final was in Berlin.';
const report: GroundingReport = {
  sources: [
    { url: UEFA, title: 'uefa.com', claims: [{ text: 'España won Euro 2024.' }] },
    { url: EXAMPLE, title: 'example.org', claims: [{ text: 'The final was in Berlin.' }] },
    { url: 'javascript:alert(1)', title: 'Click', claims: [] },
  ],
  queries: ['who won Euro 2024'],
  suggestions: '<div>chips</div>',
};

/** Lets the model answer `text` with sources. */
export async function groundedAnswer(server: WireServer, text: string): Promise<void> {
  const call = await server.callOf(text);
  call.say(ANSWER);
  call.ground(report);
  call.end(usage);
}

/** Sends a message to a new conversation, and gives its answer as JSON. */
export async function sendGrounded(server: WireServer, text = `Who won? ${randomUUID()}`) {
  const conversationId = randomUUID();
  const sent = server.call(`/v1/conversations/${conversationId}/messages`, {
    headers: { accept: 'application/json' },
    body: { message: { id: randomUUID(), parts: [{ type: 'text', text }] } },
  });
  await groundedAnswer(server, text);
  return { conversationId, body: await readAs(sendMessageResponse, await sent) };
}
