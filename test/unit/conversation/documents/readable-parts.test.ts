import { saidIn } from '#functions/chat/conversations/erase/repeating-items.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { sanitizeHistory } from '#shared/compaction/summariser-input.ts';
import { answerText } from '#shared/conversation/context/answer-text.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { readableParts, type Content, type Part } from '#shared/conversation/documents/content.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { stringsIn } from '#shared/conversation/repair/content-strings.ts';
import { readUtterances } from '#shared/conversation/utterances.ts';
import { textsOfTurn } from '#shared/search/turn-texts.ts';
import { toOutputParts } from '#shared/wire/resources/message-parts.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { describe, expect, test } from 'vitest';

const model = (...parts: Part[]): Content => ({ role: 'model', parts });
const picture = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
const call = { functionCall: { name: 'look', args: {} } };
const signed = (text: string): Part => ({ text, thoughtSignature: 'c2ln' });

describe('the readable parts of a content', () => {
  test.each<[string, Content, Part[]]>([
    [
      'signed pieces of one word',
      model({ text: 'QX-' }, signed('77'), { text: '19.' }),
      [{ text: 'QX-7719.' }],
    ],
    [
      'thoughts and lone signatures within a word',
      model(
        { text: 'QX-' },
        { text: 'hm', thought: true },
        signed(''),
        { thoughtSignature: 'c2ln' },
        signed('77'),
      ),
      [{ text: 'QX-77' }],
    ],
    [
      'a blank piece between words',
      model({ text: 'two' }, signed(' '), { text: 'words' }),
      [{ text: 'two words' }],
    ],
    [
      'text around a picture and a call',
      model({ text: 'a' }, picture, signed('b'), { text: 'c' }, call, { text: 'd' }),
      [{ text: 'a' }, picture, { text: 'bc' }, call, { text: 'd' }],
    ],
    [
      'what a user sent in parts',
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }, { text: '' }] },
      [{ text: 'a' }, { text: 'b' }],
    ],
  ])('read %s as people do', (_, content, expected) => {
    expect(readableParts(content)).toEqual(expected);
  });
});

describe('an answer that came in signed pieces', () => {
  const pieces = model({ text: 'Your locker code is QX-' }, signed('77'), { text: '19.' });
  const whole = 'Your locker code is QX-7719.';

  const readers: [string, (turn: Turn) => unknown[]][] = [
    ['search and recall', (turn) => textsOfTurn(turn).messages.map(({ text }) => text)],
    [
      'the transcript',
      ({ seq, contents }) =>
        toOutputParts(seq, contents).map((part) => 'text' in part && part.text),
    ],
    ['an erasure', (turn) => saidIn([turn])],
    [
      'a check of a summary',
      ({ contents }) => stringsIn(contents).filter((text) => text.length > 1),
    ],
    [
      'a summariser',
      ({ contents }) =>
        sanitizeHistory(contents).flatMap(({ parts }) => parts.map(({ text }) => text)),
    ],
    ['a finder of facts', (turn) => readUtterances([turn]).map(({ text }) => text)],
    ['a citation', ({ contents }) => [answerText(contents)]],
  ];

  test.each(readers)('is one text for %s', async (_, read) => {
    const store = createMemoryDocumentStore();
    const turns = [{ user: 'Which code?', answer: [pieces] }];
    const { conversationId } = await buildConversation(store, { turns });
    const [turn] = await readTurns(store, conversationId, [1]);

    expect(turn && read(turn.value).filter((text) => text !== 'Which code?')).toEqual([whole]);
  });
});
