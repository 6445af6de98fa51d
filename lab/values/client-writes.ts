import { randomUUID } from 'node:crypto';
import { call, messageOf, said, type Call, type Journey } from './calls.ts';
import { describeValue, jsonText } from './hostile-json.ts';

/** Gives the next value. */
type Next = () => unknown;

/** What a user has. */
const ofUser = (v: Next): Call[] => {
  const me = '/v1/users/me';
  return [
    { method: 'POST', path: `${me}/memories`, body: { text: v(), topics: v() } },
    { method: 'POST', path: `${me}/memories`, body: { text: 'a', topics: [v()], imports: [v()] } },
    { method: 'PUT', path: `${me}/devices/a`, body: { token: v(), platform: 'ios', locale: v() } },
    { method: 'POST', path: '/v1/uploads', body: { mimeType: v(), sizeBytes: v() } },
    {
      method: 'POST',
      path: '/v1/uploads',
      body: { mimeType: 'text/plain', sizeBytes: 5, name: v() },
    },
    { method: 'POST', path: '/v1/conversations', body: v() },
    { method: 'POST', path: '/v1/conversations', body: { id: randomUUID(), metadata: v() } },
  ];
};

/** What a conversation says of itself. */
const ofConversation = (path: string, v: Next): Call[] => {
  const parameters = { type: 'object', properties: v() };
  const bodies = [
    { title: v() },
    { metadata: { a: v() } },
    { metadata: Object.fromEntries([[describeValue(v()), 'a']]) },
    { settings: { thresholdTokens: v(), recallTokens: v() } },
    { tools: v() },
    { tools: [{ name: 'locate', parameters }] },
  ];
  return [
    ...bodies.map((body) => ({ method: 'PATCH', path, body })),
    { method: 'PUT', path: `${path}/pins/a`, body: { text: v() } },
    { method: 'POST', path: `${path}:compact`, body: { focus: v() } },
    { method: 'POST', path: `${path}:restore`, body: { generation: v() } },
    {
      method: 'PUT',
      path: `${path}/messages/m_1/feedback`,
      body: { rating: 'up', comment: v() },
    },
  ];
};

/** Messages by every façade. */
const ofMessages = ({ path, conversationId }: Journey, v: Next): Call[] => {
  const text = () => messageOf([{ type: 'text', text: v() }]);
  const openAi = (content: unknown, more: object = {}) => ({
    model: 'recap',
    metadata: { conversation_id: conversationId, ...more },
    messages: [{ role: 'user', content }],
  });
  const places: [string, unknown][] = [
    [`${path}/messages`, messageOf(v())],
    [`${path}/messages`, text()],
    [`${path}/messages`, messageOf([{ type: 'file', mediaType: 'image/png', data: v() }])],
    [`${path}/messages`, { ...said('b'), clientContext: v() }],
    [`${path}/messages`, { ...said('c'), clientContext: { screen: v(), values: { a: v() } } }],
    [`${path}/messages/m_1:edit`, text()],
    ['/v1/openai/chat/completions', openAi(v())],
    ['/v1/openai/chat/completions', openAi('d', { client_context: jsonText(v()) })],
    ['/callable/chat', { data: { conversationId, ...messageOf(v()) } }],
    [
      '/v1/ai-sdk/chat',
      { id: conversationId, messages: [{ id: randomUUID(), role: 'user', parts: v() }] },
    ],
  ];
  return places.map(([place, body]) => ({ method: 'POST', path: place, body }));
};

/** Everything that a client writes, as it should not be. */
export async function clientWrites(journey: Journey): Promise<void> {
  const { path, supply } = journey;
  const calls = [
    ...ofConversation(path, supply.take),
    ...ofUser(supply.take),
    ...ofMessages(journey, supply.take),
  ];
  for (const each of calls) await call(journey, each);
}
