import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { scriptedAnswers } from './scripted-answers.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

function conversation(recordingId: string, ...exchanges: [string[], string[]][]) {
  return {
    recordingId,
    conversationId: recordingId,
    script: {
      exchanges: exchanges.map(([userTexts, answerTexts]) => ({
        userTexts,
        answerTexts,
        recordedIndexes: [],
      })),
      leftOut: { toolCalls: 0, toolResponses: 0, otherParts: 0, openingAnswers: 0 },
      mergedContents: 0,
      splitParts: 0,
    },
  };
}

test('names an answer by the hash of the text parts, joined by line breaks', () => {
  const [answer] = scriptedAnswers([conversation('a', [['x', 'y'], ['z']])]);

  expect(answer).toMatchObject({ userHash: hash('x\ny'), ordinal: 1 });
});

test('counts a repeated text over all conversations, also where it has no answer', () => {
  const answers = scriptedAnswers([
    conversation('a', [['yes'], ['1']], [['yes'], []]),
    conversation('b', [['yes'], ['3']]),
  ]);

  expect(answers.map(({ conversation: id, ordinal }) => [id, ordinal])).toEqual([
    ['a', 1],
    ['b', 3],
  ]);
});

test('gives several texts as one, each on its own line', () => {
  const [answer] = scriptedAnswers([conversation('a', [['x'], ['one', 'two']])]);

  expect(answer?.contents).toEqual([{ role: 'model', parts: [{ text: 'one\ntwo' }] }]);
});
