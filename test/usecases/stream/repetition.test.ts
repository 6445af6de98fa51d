import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { contentText } from '#shared/models/content.ts';
import type { ModelChunk } from '#shared/ports/ports.ts';
import { scriptedStreamer, type ScriptedAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { collect, request, textOf } from '#test/support/chat/sending.ts';

const PHRASE = 'I will look that up for you right away, one moment please. ';
const OPENING = 'Of course!\n';
const CHANT = OPENING + PHRASE.repeat(40);
/** Two sayings, and the chunk that shows that there is a third. */
const SHOWN = OPENING + PHRASE.repeat(2) + PHRASE.slice(0, 49);

const USAGE = { promptTokens: 100, cachedTokens: 0, outputTokens: 900, thoughtsTokens: 0 };
const stop: ModelChunk = { parts: [], finishReason: 'STOP', usage: USAGE };

/** An answer in pieces of so many UTF-16 units. */
const inPieces = (text: string, size: number) => ({
  chunks: [
    ...Array.from({ length: Math.ceil(text.length / size) }, (_, i) => ({
      parts: [{ text: text.slice(i * size, (i + 1) * size) }],
      usage: USAGE,
    })),
    stop,
  ],
});

function chatting(...answers: ScriptedAnswer[]) {
  const scripted = scriptedStreamer(...answers);
  const dependencies = chatDependencies({ model: scripted.model }, { LOOP_DETECTION: 'on' });
  return { ...scripted, dependencies, id: randomUUID() };
}

async function answeredWith(...answers: ScriptedAnswer[]) {
  const chat = chatting(...answers);
  const handle = await sendMessage(chat.dependencies, request(chat.id, 'Where is my parcel?'));
  const frames = await collect(handle.frames());
  const { turn } = await handle.result;
  return { frames, turn };
}

test.each([1, 59, CHANT.length])(
  'a repetitive answer in pieces of %i characters is kept up to the repetitions',
  async (size) => {
    const { frames, turn } = await answeredWith(inPieces(CHANT, size));

    expect(textOf(frames)).toBe(SHOWN);
    expect(turn.contents.map(contentText)).toEqual([SHOWN]);
  },
);

test('a repetition loop in thoughts alone is ignored', async () => {
  const thought = { text: CHANT, thought: true };
  const { turn } = await answeredWith({
    chunks: [{ parts: [thought, { text: 'Here.' }] }, stop],
  });

  expect(turn.finishReason).toBe('STOP');
});

test('a repetitive answer is given whole where LOOP_DETECTION is off', async () => {
  const { model } = scriptedStreamer(inPieces(CHANT, 20));
  const dependencies = chatDependencies({ model }, { LOOP_DETECTION: 'off' });

  const handle = await sendMessage(dependencies, request(randomUUID(), 'Where is my parcel?'));

  expect(textOf(await collect(handle.frames()))).toBe(CHANT);
});
