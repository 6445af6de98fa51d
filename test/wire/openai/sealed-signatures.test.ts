import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { LOST_SIGNATURE } from '#shared/conversation/repair/repair-prompt.ts';
import type { ModelRequest, ModelStreamer } from '#shared/ports/ports.ts';
import { createWireApp } from '#test/support/chat/wire-app.ts';

const MADE = 'bWFkZSBieSB0aGUgbW9kZWw=';
const MODEL = 'gemini-3.5-flash';

/** A service whose model signs the one call that it makes of each dialogue. */
function world(environment: Record<string, string> = {}) {
  const requests: ModelRequest[] = [];
  const model: ModelStreamer = {
    async *stream(request) {
      requests.push(structuredClone(request));
      const parts = [
        { text: 'Let me look.' },
        { functionCall: { name: 'locate', args: {} }, thoughtSignature: MADE },
      ];
      yield await Promise.resolve({ parts, finishReason: 'STOP' });
    },
  };
  const settings = { MODEL, CLIENT_WRITABLE: 'tools', ...environment };
  const app = createWireApp({ model }, settings);
  /** The signatures of the calls that the model was shown last. */
  const shown = () =>
    (requests.at(-1)?.contents ?? [])
      .flatMap(({ parts }) => parts)
      .flatMap(({ functionCall, thoughtSignature }) => (functionCall ? [thoughtSignature] : []));
  return { app, shown };
}

type World = ReturnType<typeof world>;

/** One of the two protocols: a first request gives a signature, a second one sends one with what came of the first. */
interface Protocol {
  begin: (world: World, uid: string) => Promise<string>;
  goOn: (world: World, uid: string, kept: string) => Promise<void>;
}

const completion = z.object({
  choices: z.tuple([
    z.object({
      message: z.object({
        tool_calls: z.tuple([
          z.object({
            extra_content: z.object({ google: z.object({ thought_signature: z.string() }) }),
          }),
        ]),
      }),
    }),
  ]),
});
const response = z.object({ output: z.array(z.looseObject({ type: z.string() })) });
const question = { role: 'user', content: 'Where am I?' };
const locate = { name: 'locate', parameters: { type: 'object', properties: {} } };
const called = { name: 'locate', arguments: '{}' };

const protocols: Readonly<Record<string, Protocol>> = {
  'chat completions': {
    begin: async ({ app }, uid) => {
      const tools = [{ type: 'function', function: locate }];
      const body = { model: 'recap', messages: [question], tools };
      const path = '/v1/openai/chat/completions';
      const { choices } = completion.parse(await app.ok({ method: 'POST', path, uid, body }));
      return choices[0].message.tool_calls[0].extra_content.google.thought_signature;
    },
    goOn: async ({ app }, uid, kept) => {
      const extra_content = { google: { thought_signature: kept } };
      const call = { id: 'c1', type: 'function', function: called, extra_content };
      const messages = [
        question,
        { role: 'assistant', content: 'Let me look.', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'Oslo' },
      ];
      const path = '/v1/openai/chat/completions';
      await app.ok({ method: 'POST', path, uid, body: { model: 'recap', messages } });
    },
  },
  'the Responses API': {
    begin: async ({ app }, uid) => {
      const tools = [{ type: 'function', ...locate }];
      const body = { model: 'recap', store: false, input: [question], tools };
      const path = '/v1/openai/responses';
      const { output } = response.parse(await app.ok({ method: 'POST', path, uid, body }));
      return String(output.find(({ type }) => type === 'reasoning')?.['encrypted_content']);
    },
    goOn: async ({ app }, uid, kept) => {
      const input = [
        question,
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: kept },
        { type: 'function_call', call_id: 'c1', ...called },
        { type: 'function_call_output', call_id: 'c1', output: 'Oslo' },
      ];
      const path = '/v1/openai/responses';
      await app.ok({ method: 'POST', path, uid, body: { model: 'recap', store: false, input } });
    },
  },
};

describe.each(Object.entries(protocols))('thought signatures of %s', (_, { begin, goOn }) => {
  test('a client keeps a sealed one, and the model gets its own back', async () => {
    const chat = world();
    const kept = await begin(chat, 'alice');

    await goOn(chat, 'alice', kept);

    expect(kept).not.toContain(MADE);
    expect(chat.shown()).toEqual([MADE]);
  });

  test.each([
    { what: 'one that was invented', change: () => 'aW52ZW50ZWQ=' },
    { what: 'one without a seal', change: () => MADE },
    { what: 'a seal that was changed', change: (kept: string) => `${kept.slice(0, -6)}AAAAAA` },
    { what: 'words', change: () => '\u{1f600} none at all' },
    { what: 'one of another user', uid: 'bob' },
    { what: 'one of another model', later: { MODEL: 'gemini-3.1-pro-preview' } },
  ])('$what does not reach the model', async ({ change, uid = 'alice', later }) => {
    const chat = world();
    const kept = await begin(chat, 'alice');
    const next = later ? world(later) : chat;

    await goOn(next, uid, change?.(kept) ?? kept);

    expect(next.shown()).toEqual([LOST_SIGNATURE]);
  });
});
