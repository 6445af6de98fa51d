import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { contentText } from '#shared/conversation/documents/content.ts';
import { sentPrompt } from '#test/support/random-tools/prompt-checks.ts';
import { collect, request } from '#test/support/chat/sending.ts';
import { storedTurn, readStream } from '#test/support/chat/streaming.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { responsesIn, say, useToolModel, toolChat } from '#test/support/tools/tool-world.ts';

const { fakeGemini, model } = await useToolModel();

const refusals = () => fakeGemini.journal().flatMap(({ refusal }) => refusal ?? []);

const responsesOf = async (text: string, environment: Record<string, string> = {}) => {
  const { chat, effects } = toolChat(model, { environment });
  const { turn, chunks } = await say(chat, randomUUID(), text);
  return { turn, chunks, effects, responses: responsesIn(turn.contents) };
};

describe('a tool of the server', () => {
  test('a server tool runs between two model calls, and its output is used', async () => {
    const { turn, effects } = await responsesOf('call weather {"city":"Oslo"}');

    expect(turn.state).toBe('done');
    expect(turn.contents.map(({ role }) => role)).toEqual(['model', 'user', 'model']);
    expect(turn.contents.map(contentText).join('')).toContain('"degrees":21');
    expect([...effects]).toEqual([['t_1:0', 1]]);
    expect(fakeGemini.journal()).toHaveLength(2);
    expect(refusals()).toEqual([]);
  });

  test('a server tool’s run is shown in the stream between the text parts', async () => {
    const { chunks } = await responsesOf('call weather {"city":"Oslo"}');

    const shown = chunks.filter(({ type }) => type !== 'text-delta' && type !== 'data-context');
    expect(shown).toMatchObject([
      { type: 'start' },
      {
        type: 'tool-input-available',
        toolCallId: 't_1_c0',
        toolName: 'weather',
        input: { city: 'Oslo' },
        providerExecuted: true,
        dynamic: true,
      },
      {
        type: 'tool-output-available',
        toolCallId: 't_1_c0',
        output: { city: 'Oslo', degrees: 21 },
        providerExecuted: true,
        dynamic: true,
      },
      { type: 'start-step' },
      { type: 'text-start', id: 'p1' },
      { type: 'text-end', id: 'p1' },
      { type: 'finish', finishReason: 'stop' },
    ]);
  });

  test('parallel server tools respond in the order of the calls', async () => {
    const { responses, effects } = await responsesOf(
      'call weather {"city":"Oslo"}\ncall hanging\ncall weather {"city":"Rome"}',
    );

    expect(responses).toEqual([
      { name: 'weather', response: { city: 'Oslo', degrees: 21 } },
      { name: 'hanging', response: { error: 'The tool did not answer within 60 ms.' } },
      { name: 'weather', response: { city: 'Rome', degrees: 21 } },
    ]);
    expect([...effects.keys()]).toEqual(['t_1:0', 't_1:2']);
  });

  test('a server tool’s calls are counted over all rounds of a turn', async () => {
    const { effects, turn } = await responsesOf(
      'call weather {"city":"A"}\ncall weather {"city":"B"}\nthen\ncall weather {"city":"C"}',
    );

    expect([...effects.keys()]).toEqual(['t_1:0', 't_1:1', 't_1:2']);
    expect(turn.rounds).toMatchObject({ count: 2 });
    expect(refusals()).toEqual([]);
  });

  test('a server tool’s model calls are all billed, and the meter has the last report', async () => {
    const { turn } = await responsesOf('call weather {"city":"Oslo"}');

    const [first, second] = fakeGemini.journal();
    const sum = (first?.promptTokens ?? 0) + (second?.promptTokens ?? 0);
    expect(turn.usage?.promptTokens).toBe(sum);
  });

  test.each([
    { text: 'call broken', error: 'The tool failed.' },
    { text: 'call refusing', error: 'There is no such city.' },
    { text: 'call hanging', error: 'The tool did not answer within 60 ms.' },
    {
      text: 'call nothing',
      error:
        'There is no tool named nothing. There are: weather, broken, refusing, hanging, large, transfer.',
    },
  ])('a server tool that returns nothing tells the model so: $text', async ({ text, error }) => {
    const { turn, responses, chunks } = await responsesOf(text);

    expect(turn.state).toBe('done');
    expect(responses).toMatchObject([{ response: { error } }]);
    expect(chunks).toContainEqual(
      expect.objectContaining({ type: 'tool-output-error', errorText: error }),
    );
    expect(refusals()).toEqual([]);
  });

  test('a server tool is not run with arguments that do not match its parameters', async () => {
    const { responses, effects } = await responsesOf('call weather {"city":7}');

    expect(responses).toMatchObject([{ response: { error: expect.stringContaining('city') } }]);
    expect(effects.size).toBe(0);
  });

  test('a server tool’s unstorably large output is replaced by its size', async () => {
    const { responses } = await responsesOf('call large {"bytes":1100000}');

    expect(responses).toMatchObject([
      { response: { error: expect.stringContaining('the limit is 1048576') } },
    ]);
  });

  test('a server tool’s outputs may fill several documents, the last of which stay', async () => {
    const { chat } = toolChat(model);
    const conversationId = randomUUID();

    const { turn } = await say(
      chat,
      conversationId,
      'call large {"bytes":600000}\nthen\ncall large {"bytes":700000}\nthen\ncall large {"bytes":700000}',
    );

    const stored = await storedTurn(chat, conversationId);
    expect(stored.contents).toEqual(turn.contents);
    expect(responsesIn(turn.contents)).toMatchObject([
      { response: { output: expect.any(String) } },
      { response: { output: expect.any(String) } },
      { response: { error: expect.stringMatching(/may have \d+ more/) } },
    ]);
  });
});

test('the round limit ends open calls with an error and a last call without tools', async () => {
  const rounds = ['A', 'B', 'C'].map((city) => `call weather {"city":"${city}"}`);

  const { turn, effects, responses } = await responsesOf(rounds.join('\nthen\n'), {
    TOOL_ROUNDS: '2',
  });

  expect(turn.state).toBe('done');
  expect(effects.size).toBe(2);
  expect(responses.at(-1)).toMatchObject({
    response: { error: expect.stringContaining('limit of 2 rounds') },
  });
  const [first, , , last] = fakeGemini.journal().map(({ n }) => fakeGemini.requestBody(n));
  expect(last).toMatchObject({ toolConfig: { functionCallingConfig: { mode: 'NONE' } } });
  expect(first).not.toHaveProperty('toolConfig');
  // The cached prefix begins with them.
  const { tools } = sentPrompt(first);
  expect(last).toMatchObject({ tools });
  expect(fakeGemini.journal()).toHaveLength(4);
  expect(refusals()).toEqual([]);
});

describe('a turn with tools', () => {
  test('a turn with tools is in the next prompt as whole pairs', async () => {
    const { chat } = toolChat(model);
    const conversationId = randomUUID();
    await say(chat, conversationId, 'call weather {"city":"Oslo"}\nthen\ncall broken');

    const { turn } = await say(chat, conversationId, 'And now?');

    expect(turn.state).toBe('done');
    expect(refusals()).toEqual([]);
  });

  test('a turn with tools is replayed collapsed and can be resumed from any frame', async () => {
    const { chat } = toolChat(model);
    const conversationId = randomUUID();
    const sent = request(
      conversationId,
      'call weather {"city":"A"}\nthen\ncall weather {"city":"B"}',
    );
    const live = await collect((await sendMessage(chat, sent)).frames());

    const replayed = await collect((await sendMessage(chat, sent)).frames());

    expect(replayed.map(({ chunk }) => chunk.type)).toEqual([
      'start',
      'tool-input-available',
      'tool-output-available',
      'start-step',
      'tool-input-available',
      'tool-output-available',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'data-context',
      'finish',
    ]);
    for (const frame of replayed) {
      if (frame.chunk.type === 'start' || frame.chunk.type === 'data-context') continue;
      const rest = await readStream(chat, { conversationId, cursor: frame.id });
      const after = rest ? await collect(rest) : [];
      expect(after).toEqual(live.filter(({ id }) => id > frame.id));
    }
  });
});
