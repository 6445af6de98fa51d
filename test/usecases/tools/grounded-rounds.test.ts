import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import { answerText } from '#shared/conversation/documents/content.ts';
import { sourcesView } from '#shared/wire/sources.ts';
import { scriptedStreamer, type ScriptedAnswer } from '#test/fakes/scripted-streamer.ts';
import { say, toolChat, withAppTools } from '#test/support/tools/tool-world.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

const usage = { promptTokens: 100, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 };

/** Searches, says what it found, and asks the app where the user is. */
const searching: ScriptedAnswer = {
  chunks: [
    { parts: [{ toolCall: { id: 's1', toolType: 'GOOGLE_SEARCH_WEB' } }] },
    { parts: [{ text: 'Rain comes. ' }] },
    {
      parts: [{ functionCall: { name: 'locate', args: {} } }],
      finishReason: 'STOP',
      usage,
      grounding: {
        sources: [
          { url: 'https://weather.example/', title: 'Weather', claims: [{ text: 'Rain comes.' }] },
        ],
        queries: ['weather'],
      },
    },
  ],
};

const reading: ScriptedAnswer = {
  chunks: [
    { parts: [{ text: 'Take tram 12.' }] },
    {
      parts: [],
      finishReason: 'STOP',
      usage,
      grounding: {
        sources: [
          { url: 'https://trams.example/', title: 'Trams', claims: [{ text: 'Take tram 12.' }] },
        ],
        queries: ['trams'],
      },
    },
  ],
};

async function waiting() {
  const { model, requests } = scriptedStreamer(searching, reading);
  const { chat } = toolChat(model, { environment: { GROUNDING: 'search' } });
  const conversationId = randomUUID();
  await withAppTools(chat, conversationId, ['locate']);
  return { chat, requests, conversationId, ...(await say(chat, conversationId, 'How do I go?')) };
}

describe('sources of an answer in rounds', () => {
  test('an answer in two rounds has the sources of both, each at its place in the whole text', async () => {
    const { chat, requests, conversationId } = await waiting();

    const handle = await answerCalls(chat, {
      caller: { uid: 'u1', tier: 'signedIn' },
      conversationId,
      turnId: 't_1',
      results: [{ callId: 't_1_c0', kind: 'response', response: { city: 'Lisbon' } }],
      locale: undefined,
    });
    const { turn } = await handle.result;

    const text = answerText(turn.contents);
    const told = sourcesView(turn).map(({ id, spans = [] }) => [
      id,
      spans.map(({ start, end }) => text.slice(start, end)),
    ]);
    expect(told).toEqual([
      ['s1.1', ['Rain comes.']],
      ['s1.2', ['Take tram 12.']],
    ]);
    expect(turn.usage).toMatchObject({ searches: 2 });
    // While it is answered, the model gets back what it asked Google's tools; afterwards nobody does.
    expect(JSON.stringify(requests[1]?.contents)).toContain('toolCall');
    expect(JSON.stringify(turn.contents)).not.toContain('toolCall');
  });
});
