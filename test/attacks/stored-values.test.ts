import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { describeValue, jsonText } from '#lab/property/hostile-json.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { LEFT_OUT } from '#shared/lib/json-text.ts';
import type { ModelChunk } from '#shared/ports/ports.ts';
import {
  scriptedStreamer,
  textAnswer,
  type ScriptedAnswer,
} from '#test/fakes/scripted-streamer.ts';
import { createWireApp, type WireApp } from '#test/support/chat/wire-app.ts';
import { tool } from '#test/support/tools/tool-world.ts';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

const uid = 'alice';

function nested(levels: number): unknown {
  let value: unknown = 'innermost';
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

const said = (text: string) => ({
  message: { id: randomUUID(), parts: [{ type: 'text', text }] },
});

/** A conversation whose app runs `locate`, and whose model answers so. */
async function conversationWith(answers: ScriptedAnswer[]) {
  const { model, requests } = scriptedStreamer(...answers);
  const toolbox = createToolbox([
    tool('fetch', {}, () => Promise.resolve({ deep: nested(2_600), half: 'a\uD800' })),
  ]);
  const app = createWireApp({ model, toolbox }, { CLIENT_WRITABLE: 'tools' });
  const conversationId = randomUUID();
  const path = `/v1/conversations/${conversationId}`;
  const tools = [{ name: 'locate', parameters: { type: 'object' } }];
  const body = { id: conversationId, tools };
  await app.ok({ method: 'POST', path: '/v1/conversations', uid, body });
  const send = (text: string) =>
    app.ok({ method: 'POST', path: `${path}/messages`, uid, body: said(text) });
  return { app, requests, conversationId, path, send };
}

const calling = (name: string): { chunks: ModelChunk[] } => ({
  chunks: [{ parts: [{ functionCall: { name, args: {} } }], finishReason: 'STOP' }],
});

/** That the conversation is in use: a message is answered, and its context can be seen. */
async function expectInUse(app: WireApp, path: string): Promise<void> {
  const body = JSON.stringify(said('And now?'));
  const sent = await app.call({ method: 'POST', path: `${path}/messages`, uid, body });
  const shown = await app.call({ method: 'GET', path: `${path}/context`, uid });
  expect({ sent: sent.status, shown: shown.status }).toEqual({ sent: 200, shown: 200 });
}

type Way = (conversationId: string, json: string) => { path: string; body: string; field: string };

const facades: [string, Way][] = [
  [
    'the native route',
    (conversationId, json) => ({
      path: `/v1/conversations/${conversationId}/turns/t_1/toolResults`,
      body: `{"results":[{"callId":"t_1_c0","output":${json}}]}`,
      field: 'results[0].output',
    }),
  ],
  [
    'the callable',
    (conversationId, json) => ({
      path: '/callable/chat',
      body: `{"data":{"conversationId":"${conversationId}","toolResults":[{"callId":"t_1_c0","output":${json}}]}}`,
      field: 'data.toolResults[0].output',
    }),
  ],
  [
    'the façade of OpenAI',
    (conversationId, json) => ({
      path: '/v1/openai/chat/completions',
      body: jsonText({
        model: 'recap',
        metadata: { conversation_id: conversationId },
        messages: [{ role: 'tool', tool_call_id: 't_1_c0', content: json }],
      }),
      field: 'messages[0].content',
    }),
  ],
  [
    'the façade of the AI SDK',
    (conversationId, json) => ({
      path: '/v1/ai-sdk/chat',
      body: `{"id":"${conversationId}","messages":[{"id":"m_1","role":"assistant","parts":[{"type":"dynamic-tool","toolCallId":"t_1_c0","state":"output-available","output":${json}}]}]}`,
      field: 'messages',
    }),
  ],
];

test.each(facades)(
  'S6: an app tool’s output is refused by %s where it is too deep, and by field where it holds half a character, without lasting damage',
  async (_, way) => {
    const answers = [calling('locate'), textAnswer('There.')];
    const { app, conversationId, path, send } = await conversationWith(answers);
    await send('Where am I?');
    const halved = way(conversationId, '{"city":"a\\ud800"}');
    const call = (asked: ReturnType<Way>) => app.call({ method: 'POST', uid, ...asked });

    const tooDeep = await call(way(conversationId, jsonText(nested(2_600))));
    const halfCharacter = await call(halved);
    const taken = await call(way(conversationId, '["Oslo"]'));

    expect([tooDeep, halfCharacter, taken].map(({ status }) => status)).toEqual([400, 400, 200]);
    expect(tooDeep.text).toMatch(/nested deeper than 32 levels.*[Ff]latten it/);
    expect(halfCharacter.text).toContain(`\`${halved.field}\` holds half of a surrogate pair`);
    await expectInUse(app, path);
  },
);

const answering = (fields: object): ModelChunk => ({ parts: [{ text: 'a' }], ...fields });
const tokensOf = (promptTokens: number) =>
  answering({
    usage: { promptTokens, cachedTokens: promptTokens, outputTokens: 1e308, thoughtsTokens: 0 },
  });

const strangeAnswers: [string, ModelChunk][] = [
  [
    'calls a function with 3,000 brackets',
    { parts: [{ functionCall: { name: 'fetch', args: { a: nested(3_000) } } }] },
  ],
  [
    'calls a function of a name of a megabyte',
    { parts: [{ functionCall: { name: 'f'.repeat(1_000_000), id: 'i'.repeat(500_000) } }] },
  ],
  [
    'has a part with 3,000 brackets that nobody knows',
    { parts: [{ text: 'a', b: nested(3_000) }] },
  ],
  ['ends for half a character', answering({ finishReason: '\uD800' })],
  ['ends for a megabyte', answering({ finishReason: 'F'.repeat(1_100_000) })],
  ['reports more tokens than there are', tokensOf(1e308)],
  ['reports fewer than no tokens', tokensOf(-1)],
  ['reports half a token', tokensOf(0.5)],
  ['reports no number of tokens', tokensOf(NaN)],
];

test.each(strangeAnswers)('S6: a model that %s breaks no conversation', async (_, chunk) => {
  const answer = { chunks: [{ finishReason: 'STOP', ...chunk }] };
  const { app, path, send } = await conversationWith([answer, textAnswer('Fine.')]);

  await send('What is there?');

  await expectInUse(app, path);
  const deleted = await app.call({ method: 'DELETE', path: `${path}/messages/m_1`, uid });
  expect(deleted.status).toBe(200);
});

test('S6: a server tool’s too deep output is cut, and the turn continues with the rest', async () => {
  const { app, requests, conversationId, path, send } = await conversationWith([
    calling('fetch'),
    textAnswer('Fine.'),
  ]);

  await send('What is there?');

  const response = requests[1]?.contents.at(-1)?.parts[0]?.functionResponse?.response;
  expect(describeValue(response)).toContain('"half":"a\uFFFD"');
  expect(JSON.stringify(response)).toContain(LEFT_OUT);
  const [stored] = await readTurns(app.dependencies.store, conversationId, [1]);
  expect(JSON.stringify(stored?.value.contents)).toContain(LEFT_OUT);
  await expectInUse(app, path);
});

test.each([
  ['half a character', '{"type":"object","title":"a\\ud800"}', 'half of a surrogate pair'],
  ['a number beyond all', '{"type":"object","maxProperties":1e999}', 'too large'],
])('S6: a tool declaration with %s is refused by its field', async (_, json, fault) => {
  const { app, path } = await conversationWith([textAnswer('Fine.')]);
  const body = `{"tools":[{"name":"locate","parameters":${json}}]}`;

  const { status, text } = await app.call({ method: 'PATCH', path, uid, body });

  expect(status).toBe(400);
  expect(text).toContain('`tools[0].parameters`');
  expect(text).toContain(fault);
});
