import { randomUUID } from 'node:crypto';
import { httpsCallableFromURL } from '@firebase/functions';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { idTokenClaims } from '#test/support/token-keys.ts';
import { firebaseFunctions } from '#test/support/wire/firebase-functions.ts';
import { ANSWER, EXAMPLE, groundedAnswer, UEFA } from '#test/support/tools/grounded.ts';
import { bodyOf, clientOf, newText } from '#test/support/wire/openai.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const server = await startWireServer({ environment: { GROUNDING: 'search' } });
afterAll(() => server.stop());

const annotations = [
  { url: UEFA, title: 'uefa.com', says: 'España won Euro 2024.' },
  { url: EXAMPLE, title: 'example.org', says: 'The final was in Berlin.' },
].map(({ url, title, says }) => ({
  type: 'url_citation',
  url_citation: {
    url,
    title,
    start_index: ANSWER.indexOf(says),
    end_index: ANSWER.indexOf(says) + says.length,
  },
}));

describe('sources for clients of OpenAI', () => {
  test('a completion of OpenAI’s client has its sources as annotations of the message', async () => {
    const { client } = await clientOf(server);
    const text = newText();

    const asked = client.chat.completions.create(bodyOf(text));
    await groundedAnswer(server, text);

    expect((await asked).choices[0]?.message.annotations).toEqual(annotations);
  });

  test('a stream of OpenAI’s client has its sources as annotations of a delta', async () => {
    const { client } = await clientOf(server);
    const text = newText();

    const asked = client.chat.completions.create({ ...bodyOf(text), stream: true });
    await groundedAnswer(server, text);

    const deltas: object[] = [];
    for await (const { choices } of await asked) if (choices[0]) deltas.push(choices[0].delta);
    expect(deltas.filter((delta) => 'annotations' in delta)).toEqual([{ annotations }]);
  });
});

interface Chunk {
  type: string;
}

interface Result {
  message: { sources?: { url: string }[] };
}

test('Firebase’s SDK gets the sources of an answer as chunks and with its result', async () => {
  const text = newText();
  const idToken = await server.keys.sign(idTokenClaims(server.project, 'alice'));
  const { functions, close } = firebaseFunctions(server.project, idToken);
  onTestFinished(close);
  const chat = httpsCallableFromURL<unknown, Result, Chunk>(
    functions,
    `${server.url}/callable/chat`,
  );

  const calling = chat.stream({
    conversationId: randomUUID(),
    message: { id: randomUUID(), parts: [{ type: 'text', text }] },
  });
  await groundedAnswer(server, text);
  const { stream, data } = await calling;
  const chunks: Chunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);

  expect(chunks.filter(({ type }) => type === 'source-url')).toEqual([
    { type: 'source-url', sourceId: 's1.1', url: UEFA, title: 'uefa.com' },
    { type: 'source-url', sourceId: 's1.2', url: EXAMPLE, title: 'example.org' },
  ]);
  expect((await data).message.sources?.map(({ url }) => url)).toEqual([UEFA, EXAMPLE]);
});
